import { MCP_ERR_OPTION } from './errors.js'

// Hosts and origins that the author lets in, in the form in which browsers send them: another would never match.

const PORT = /:\d+$/
const HOST = /^(\[[\da-f:.]+\]|[^\s:/\\?#@*[\]]+)(:\d{1,5})?$/i
/** Extensions and web views have origins of their own schemes. */
const OTHER_ORIGIN = /^(null|(?!https?:)[a-z][a-z\d+.-]*:\/\/[^\s/?#*]*)$/
const WEB_ORIGIN = /^https?:\/\/[^\s/\\?#@*]+$/i

/** @throws MCP_ERR_OPTION that names the value and the right form */
export function hostsOf (hosts: readonly string[] | '*' = []): readonly string[] | '*' {
  return hosts === '*' ? '*' : hosts.map((host, i) => hostOf(host) ?? refuse('hosts', i, host, 'a host name, with or without a port, such as "mcp.example.com" or "[::1]:3000"'))
}

/** @throws MCP_ERR_OPTION that names the value and the right form */
export function originsOf (origins: readonly string[] | '*' = []): readonly string[] | '*' {
  return origins === '*' ? '*' : origins.map((origin, i) => originOf(origin) ?? refuse('origins', i, origin, 'an origin, scheme and host and no path, such as "https://app.example"'))
}

function hostOf (host: string): string | undefined {
  if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return undefined
  return new URL(`http://${host}`).hostname + (PORT.exec(host)?.[0] ?? '')
}

function originOf (origin: string): string | undefined {
  if (OTHER_ORIGIN.test(origin)) return origin
  return WEB_ORIGIN.test(origin) && URL.canParse(origin) ? new URL(origin).origin : undefined
}

function refuse (option: string, i: number, value: string, form: string): never {
  const all = value.includes('*') ? `; ${option}: '*' lets all in, and there are no patterns` : ''
  throw new MCP_ERR_OPTION(`option /${option}/${i} must be ${form}, got ${JSON.stringify(value)}${all}`)
}
