import type { Server, Socket } from 'node:net'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { rpcError } from '../errors.js'
import { hostOf } from '../target.js'
import { sendError } from './reply.js'

// Against DNS rebinding: a page that a user visits must not reach a server on the user's machine
// (2025-11-25 basic/transports, Security Warning; 2026-07-28 basic/transports/streamable-http, Security & Endpoint).

/** Characters of a header in the log. */
const MAX_LOGGED = 100

interface Allowed { hosts: readonly string[] | '*', origins: readonly string[] | '*' }
interface Listener { loopback: boolean, port: number }

const kListener = Symbol('fastify-mcp-plugin.listener')
const LOOPBACK_ADDRESS = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/
const LOOPBACK_NAME = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i
const HOST = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/

export function guard (allowed: Allowed): onRequestHookHandler {
  // The Host that was let in last: it is mostly that of every request, and reading it costs more than to see that it is the same.
  let known: Listener & { host?: string } = { loopback: false, port: -1 }
  return function (request, reply, done) {
    const listener = listenerOf(request)
    // A request injected by a test has come through no socket, so from no web page.
    if (listener === undefined) return done()
    const { headers: { origin } } = request
    const host = hostOf(request)
    if (host !== known.host || listener.port !== known.port || listener.loopback !== known.loopback) {
      if (!hostAllowed(host, listener, allowed)) return refuse(request, reply, 'hosts', 'Host', host)
      known = { ...listener, host }
    }
    if (origin !== undefined && !originAllowed(host, origin, listener, allowed)) return refuse(request, reply, 'origins', 'Origin', origin)
    done()
  }
}

/** Where the server of this socket listens; looked up once for each connection. */
function listenerOf (request: FastifyRequest): Listener | undefined {
  const socket = request.raw.socket as Socket & { server?: Server, [kListener]?: Listener }
  if (socket[kListener] !== undefined) return socket[kListener]
  if (socket.localAddress === undefined) return undefined
  const address = socket.server?.address()
  const bound = typeof address === 'object' && address !== null ? address.address : socket.localAddress
  return (socket[kListener] = { loopback: LOOPBACK_ADDRESS.test(bound), port: socket.localPort ?? 0 })
}

function hostAllowed (host = '', listener: Listener, { hosts }: Allowed): boolean {
  if (hosts === '*') return true
  const [, name = '', port = ''] = HOST.exec(host) ?? []
  if (hosts.some(one => one.toLowerCase() === host.toLowerCase() || one.toLowerCase() === name.toLowerCase())) return true
  if (!listener.loopback) return hosts.length === 0
  return LOOPBACK_NAME.test(name) && (port === '' ? [80, 443].includes(listener.port) : Number(port) === listener.port)
}

function originAllowed (host: string, origin: string, listener: Listener, { origins }: Allowed): boolean {
  if (origins === '*' || origins.includes(origin)) return true
  let url
  try { url = new URL(origin) } catch { return false }
  if (url.host === '' || !['http:', 'https:'].includes(url.protocol)) return false
  return listener.loopback ? LOOPBACK_NAME.test(url.hostname) : url.host === host
}

function refuse (request: FastifyRequest, reply: FastifyReply, option: string, header: string, value = ''): void {
  request.log.warn({ option, value: value.slice(0, MAX_LOGGED) }, `${header} is not allowed here; the option "${option}" widens what is`)
  sendError(reply, rpcError('Forbidden', `${header} is not allowed`), undefined)
}
