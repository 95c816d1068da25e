// One server in a process of its own, told by its parent what to be: node --expose-gc server.js <plugin | plain | auth | redis> <workload> <logger>
import Fastify from 'fastify'
import { workloads } from './workloads.js'

const [,, kind, name, level] = process.argv
const app = Fastify({ logger: level === 'off' ? false : { level } })
const { default: serve } = await import(`./${kind}.js`)
/** What clients send with each request besides, if anything. */
const headers = await serve(app, workloads[name])
await app.listen({ host: '127.0.0.1', port: 0 })

const answers = {
  /** CPU time so far, in µs: all threads, garbage collection included. */
  cpu () {
    const { user, system } = process.cpuUsage()
    return user + system
  },

  /**
   * In Node.js 20 a full collection that finds nothing under way makes process.nextTick slower for good: V8 forgets the shape of its objects.
   * It happens to every server some time after its start; here it happens to both before they are measured.
   */
  async age () {
    await new Promise(resolve => setTimeout(resolve, 50))
    globalThis.gc()
    return true
  }
}

process.on('message', async question => process.send({ [question]: await answers[question]() }))
process.on('disconnect', () => process.exit())
process.send({ port: app.server.address().port, headers })
