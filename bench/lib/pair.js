import { isDeepStrictEqual } from 'node:util'
import { startServer } from './child.js'
import { load } from './load.js'
import { opening, workloads } from './workloads.js'

const MOST_WARMING = 8
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** The plugin and the plain route side by side, checked and warm. */
export class Pair {
  /** Of each round: CPU time per request of both, in µs. */
  rounds = []

  constructor (name, level) {
    this.name = name
    this.level = level
    this.workload = workloads[name]
  }

  async start () {
    this.plugin = await target('plugin', this)
    this.plain = await target('plain', this)
    if (this.plugin.reply !== this.plain.reply) throw new Error(`${this.name}: the plugin and the plain route answer differently:\n${this.plugin.reply}\n${this.plain.reply}`)
    await this.#both(each => load(each, 1))
    await this.#both(each => each.server.age())
    await this.#warm()
  }

  /** By requests, not by time: on a busy machine a few seconds leave both half compiled, and not in the same half. */
  async #warm () {
    let answered = 0
    for (let tries = 0; answered < this.workload.warm && tries < MOST_WARMING; tries++) answered += Math.min(...await this.#both(each => load(each, 2)))
  }

  /** Both at once, so that they share whatever else the machine is doing. */
  async round (seconds) {
    const before = await this.#both(each => each.server.cpu())
    const requests = await this.#both(each => load(each, seconds))
    const after = await this.#both(each => each.server.cpu())
    const [plugin, plain] = requests.map((count, i) => (after[i] - before[i]) / count)
    this.rounds.push({ plugin, plain })
  }

  async stop () {
    await this.#both(each => each?.server.stop())
  }

  #both (run) { return Promise.all([run(this.plugin), run(this.plain)]) }
}

/** A server with the request that it gets and the reply that it has given to it. */
async function target (kind, { name, level, workload }) {
  const server = await startServer(kind, name, level)
  const { url } = server
  const session = kind === 'plugin' && workload.session ? await openSession(url) : {}
  const all = { ...headers, ...workload.headers, ...session }
  const { status, text } = await post(url, all, workload.message)
  if (status !== 200 || !isDeepStrictEqual(JSON.parse(text), expected(workload))) throw new Error(`${name}: the ${kind} server answers wrongly: ${status} ${text}`)
  if (workload.bad !== undefined) {
    const refusal = await post(url, all, workload.bad)
    if (refusal.status === 200 && JSON.parse(refusal.text).result?.isError !== true) throw new Error(`${name}: the ${kind} server takes arguments that its schema does not allow: ${refusal.text}`)
  }
  return { server, url, headers: all, body: JSON.stringify(workload.message), reply: text }
}

function expected ({ message, answer }) {
  return JSON.parse(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message.params) }))
}

async function openSession (url) {
  const { status, sessionId, text } = await post(url, headers, opening)
  if (status !== 200) throw new Error(`initialize was refused: ${text}`)
  return { 'mcp-session-id': sessionId }
}

async function post (url, headers, message) {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) })
  return { status: response.status, sessionId: response.headers.get('mcp-session-id'), text: await response.text() }
}
