import { isDeepStrictEqual } from 'node:util'
import { startServer } from './child.js'
import { load } from './load.js'
import { opening, workloads } from './workloads.js'

const MOST_WARMING = 8
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Two servers side by side, checked and warm: the one that is measured, and the one it is compared with. */
export class Pair {
  /** Of each round: CPU time per request of both, in µs. */
  rounds = []

  constructor (name, level, { measured, base }) {
    this.name = name
    this.kinds = { measured, base }
    this.level = level
    this.workload = workloads[name]
  }

  async start () {
    const { measured, base } = this.kinds
    this.measured = await target(measured, this)
    this.base = await target(base, this)
    if (this.measured.reply !== this.base.reply) throw new Error(`${this.name}: ${measured} and ${base} answer differently:\n${this.measured.reply}\n${this.base.reply}`)
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
    const [measured, base] = requests.map((count, i) => (after[i] - before[i]) / count)
    this.rounds.push({ measured, base })
  }

  async stop () {
    await this.#both(each => each?.server.stop())
  }

  #both (run) { return Promise.all([run(this.measured), run(this.base)]) }
}

/** A server with the request that it gets and the reply that it has given to it. */
async function target (kind, { name, level, workload }) {
  const server = await startServer(kind, name, level)
  const { url } = server
  const session = kind !== 'plain' && workload.session ? await openSession(url, server.headers) : {}
  const all = { ...headers, ...server.headers, ...workload.headers, ...session }
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

async function openSession (url, own) {
  const { status, sessionId, text } = await post(url, { ...headers, ...own }, opening)
  if (status !== 200) throw new Error(`initialize was refused: ${text}`)
  return { 'mcp-session-id': sessionId }
}

async function post (url, headers, message) {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) })
  return { status: response.status, sessionId: response.headers.get('mcp-session-id'), text: await response.text() }
}
