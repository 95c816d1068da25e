import { isObject } from '../jsonrpc.js'
import type { Mirrored } from '../method.js'
import { isSensitive, SENSITIVE } from '../validate.js'

// `x-mcp-header`: arguments that HTTP headers repeat (2026-07-28 basic/transports/streamable-http, Schema Extension).

const TCHAR = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES = ['string', 'integer', 'boolean']

export interface Mirror extends Omit<Mirrored, 'value'> { path: string[] }

/** @throws Error that names the place in the schema and the rule */
export function mirrorsOf (schema: Record<string, unknown>): Mirror[] {
  const mirrors: Mirror[] = []
  walk(schema, [], true, '', mirrors)
  if (mirrors.length > 0 && isSensitive(schema)) for (const mirror of mirrors) mirror.quiet = true
  return mirrors
}

/** Headers that repeat what is marked as sensitive. */
export const betraying = (mirrors: readonly Mirror[], schema: Record<string, unknown>): string[] => mirrors.filter(({ path }) => isMarked(schema, path)).map(({ header }) => `Mcp-Param-${header}`)

function isMarked (schema: unknown, [name, ...rest]: string[]): boolean {
  if (!isObject(schema)) return false
  return schema[SENSITIVE] === true || (name !== undefined && isMarked((schema.properties as Record<string, unknown>)[name], rest))
}

function walk (schema: unknown, path: string[], reachable: boolean, at: string, found: Mirror[]): void {
  if (Array.isArray(schema)) return schema.forEach((one, i) => walk(one, path, false, `${at}/${i}`, found))
  if (!isObject(schema)) return
  if ('x-mcp-header' in schema) found.push(mirrorAt(schema, path, reachable, at, found))
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties' && isObject(value)) {
      for (const [name, property] of Object.entries(value)) walk(property, [...path, name], reachable, `${at}/properties/${name}`, found)
    } else if (!DATA.has(keyword)) walk(value, path, false, `${at}/${keyword}`, found)
  }
}

/** Keywords whose value is data, not schemas. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'example'])

function mirrorAt (schema: Record<string, unknown>, path: string[], reachable: boolean, at: string, found: Mirror[]): Mirror {
  const header = schema['x-mcp-header']
  const refuse = (why: string) => new Error(`${at}/x-mcp-header ${why}`)
  if (typeof header !== 'string' || !TCHAR.test(header)) throw refuse(`must be a header name (1*tchar, RFC 9110 section 5.6.2), got ${JSON.stringify(header)}`)
  if (!reachable || path.length === 0) throw refuse('must stand on a property that is reached from the root through "properties" alone')
  if (!TYPES.includes(schema.type as string)) throw refuse(`must stand on a property of type ${TYPES.join(', ')}, not ${JSON.stringify(schema.type)}`)
  if (found.some(one => one.header.toLowerCase() === header.toLowerCase())) throw refuse(`names "${header}" a second time (case does not matter)`)
  return { header, type: schema.type as Mirrored['type'], path, quiet: false }
}

export const mirroredIn = (mirrors: readonly Mirror[], args: unknown): Mirrored[] => mirrors.map(({ header, type, path, quiet }) => ({
  header,
  type,
  quiet,
  value: path.reduce<unknown>((at, name) => isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined, args) ?? undefined
}))
