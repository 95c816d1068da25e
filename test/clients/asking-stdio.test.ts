// Round trips over stdio: the clients start the same server by themselves, and get the same text.
import t from 'tap'
import { playAll } from './scenes.js'

t.test('the fixture', async t => await playAll(t, 'stdio'))
