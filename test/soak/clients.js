// Clients that come, call, and leave when it suits them.
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const V = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
const handshake = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 'soak', version: '1' } }
/** Between two calls of one client, in ms: other steps run beside. */
const PAUSE = 150
const random = n => Math.floor(Math.random() * n)
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 })

/** One request. Leaves after `leave` ms, if that is given; else reads to the end. `seen` hears what comes and may leave as well. */
function send (url, { method = 'POST', headers = {}, body, leave, seen }) {
  return new Promise(resolve => {
    const request = http.request(url, { method, agent, headers: { ...(body !== undefined && { 'content-type': 'application/json' }), accept: 'application/json, text/event-stream', ...headers } }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
        if (seen?.(text) === false) request.destroy()
      })
      response.on('error', () => {}).on('close', () => resolve({ status: response.statusCode, headers: response.headers, text }))
    })
    request.on('error', () => resolve({ status: 0, headers: {}, text: '' }))
    if (leave !== undefined) setTimeout(() => request.destroy(), leave)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const message = (id, method, params) => ({ jsonrpc: '2.0', id, method, params })
const modern = (url, method, params, more = {}) => send(url, {
  headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(params.name && { 'mcp-name': params.name }) },
  body: message(random(1e9), method, { ...params, _meta: { ...V, progressToken: random(1e9) } }),
  ...more
})
/** The answer, alone or at the end of a stream. */
const resultOf = ({ text }) => JSON.parse(text.startsWith('{') ? text : text.match(/^data: (.*"result".*)$/m)[1]).result
const answered = /"(result|error)":/

async function session (url, run) {
  const { headers } = await send(url, { body: message(1, 'initialize', handshake) })
  const own = { 'mcp-session-id': headers['mcp-session-id'], 'mcp-protocol-version': '2025-11-25' }
  const post = (body, more = {}) => send(url, { headers: own, body, ...more })
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await run({ post, own })
}

/** By name. Each resolves to the answer that it was owed, if it stayed for one. */
const kinds = {
  async call (url) { return await modern(url, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(random(2_000)) } }) },
  async broken (url) { return await modern(url, 'tools/call', { name: 'broken' }) },
  async progress (url) { return await modern(url, 'tools/call', { name: 'steps' }) },
  async leaves (url) { await modern(url, 'tools/call', { name: 'slow', arguments: { ms: 2_000 } }, { leave: random(300) }) },
  async leavesProgress (url) { await modern(url, 'tools/call', { name: 'steps' }, { seen: () => random(4) > 0 }) },
  async listens (url) { await modern(url, 'subscriptions/listen', { notifications: { resourceSubscriptions: ['mem://a'] } }, { leave: 50 + random(500) }) },
  async rounds (url) {
    const asked = await modern(url, 'tools/call', { name: 'ask' })
    const { inputRequests, requestState } = resultOf(asked)
    return await modern(url, 'tools/call', { name: 'ask', requestState, inputResponses: { [Object.keys(inputRequests)[0]]: { action: 'accept', content: { sure: true } } } })
  },
  async session (url) {
    let last
    await session(url, async ({ post, own }) => {
      for (let i = 0; i < 5; i++) last = await post(message(i + 2, 'tools/call', { name: 'echo', arguments: { text: 'a' } }))
      if (random(2) === 0) await send(url, { method: 'DELETE', headers: own })
    })
    return last
  },
  async sessionLeaves (url) {
    await session(url, async ({ post, own }) => {
      send(url, { method: 'GET', headers: { ...own, accept: 'text/event-stream' }, leave: random(600) })
      await post(message(2, 'tools/call', { name: 'slow', arguments: { ms: 400 } }), { leave: random(300) })
    })
  },
  async answers (url) {
    let last
    await session(url, async ({ post }) => {
      last = await post(message(2, 'tools/call', { name: 'ask' }), {
        seen (text) {
          const asked = /"id":"([^"]+)","method":"elicitation\/create"/.exec(text)
          if (asked !== null && !answered.test(text)) post({ jsonrpc: '2.0', id: asked[1], result: { action: 'decline' } })
        }
      })
    })
    return last
  },
  async httpSse (url) { await send(url, { method: 'GET', headers: { accept: 'text/event-stream' }, leave: random(400) }) },
  async garbage (url) { await send(url, { body: random(2) === 0 ? [] : { jsonrpc: '2.0', id: {}, method: 5 } }) }
}

/** `width` clients at a time until `signal` says so. What was answered, and what was owed and not answered, by kind. */
export async function load (url, width, signal) {
  const counts = Object.fromEntries(Object.keys(kinds).map(name => [name, { done: 0, lost: 0 }]))
  const names = Object.keys(kinds)
  await Promise.all(Array.from({ length: width }, async () => {
    while (!signal.aborted) {
      const name = names[random(names.length)]
      const answer = await kinds[name](url)
      counts[name].done++
      if (answer !== undefined && !answered.test(answer.text)) counts[name].lost++
      await sleep(PAUSE)
    }
  }))
  agent.destroy() // what it keeps open is its own
  return counts
}
