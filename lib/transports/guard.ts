import type { Server, Socket } from 'node:net'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { rpcError } from '../errors.js'
import { hostOf } from '../target.js'
import { sendError } from './reply.js'
import { begun } from './sockets.js'

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
    begun(request.raw)
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
  if (hosts === '*' || listed(host, hosts)) return true
  const [, name = '', port = ''] = HOST.exec(host) ?? []
  return listener.loopback ? LOOPBACK_NAME.test(name) && (port === '' ? [80, 443].includes(listener.port) : Number(port) === listener.port) : hosts.length === 0
}

/** By its name, or by its name and port; a browser leaves out the port of its scheme. */
function listed (host: string, hosts: readonly string[]): boolean {
  const [, name = '', port = ''] = HOST.exec(host.toLowerCase()) ?? []
  return name !== '' && hosts.some(one => one === name || (port === '' ? one === `${name}:443` || one === `${name}:80` : one === `${name}:${port}`))
}

/** A page of the server's own host may ask it, where that host is one the author has named: without that it might be a name that is rebound. */
function originAllowed (host = '', origin: string, listener: Listener, { hosts, origins }: Allowed): boolean {
  if (origins === '*' || origins.includes(origin)) return true
  let url
  try { url = new URL(origin) } catch { return false }
  if (url.host === '' || !['http:', 'https:'].includes(url.protocol)) return false
  if (listener.loopback && LOOPBACK_NAME.test(url.hostname)) return true
  const own = !listener.loopback || (hosts !== '*' && listed(host, hosts))
  return own && URL.canParse(`${url.protocol}//${host}`) && new URL(`${url.protocol}//${host}`).host === url.host
}

function refuse (request: FastifyRequest, reply: FastifyReply, option: string, header: string, refused = ''): void {
  const value = refused.slice(0, MAX_LOGGED)
  request.log.warn({ option, value }, `${header} ${JSON.stringify(value)} is not allowed here; the option "${option}" widens what is`)
  sendError(reply, rpcError('Forbidden', `${header} is not allowed`), undefined)
}
