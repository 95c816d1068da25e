import t from 'tap'
import { run } from '../support/audit.js'
import { features } from './features.js'
import { handshake } from './handshake.js'
import { sessions } from './sessions.js'
import { streamable } from './streamable.js'
import { tools } from './tools.js'

await run(t, '2025-06-18', [...handshake, ...features, ...tools, ...streamable, ...sessions])
