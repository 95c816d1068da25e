// Round trips over HTTP: one server, one handler for each question, and every client there is gets the same text.
import t from 'tap'
import { playAll } from './scenes.js'

t.test('the fixture', async t => await playAll(t, 'http'))
