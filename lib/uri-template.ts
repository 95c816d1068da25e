import { fullFormats } from 'ajv-formats/dist/formats.js'
import { parseTemplate } from 'url-template'

// URI templates (RFC 6570). url-template expands them. Matching, which the RFC leaves open (section 1.4), is done here: what there is of libraries
// either backtracks, so that `x:{a}{b}{c}` costs a cubic time (as in CVE-2026-0621), or takes seconds to compile some hundred templates.
// The one below is a table of template part by position, filled once: its time is the product of both lengths, whatever the URI holds.

export type Variables = Record<string, string | string[]>

export interface UriTemplate {
  readonly variables: readonly Variable[]
  /** How many characters are fixed: of two templates that match, the one with more is meant. */
  readonly literals: number
  /** Values by name, decoded once; undefined where the URI is none of this template. */
  match (uri: string): Variables | undefined
  expand (variables: Variables): string
}

/** A variable with `*` is a list. One of `{;…}`, `{?…}` and `{&…}` stands in the URI with its name, in any order, or not at all; all others must be there. */
export interface Variable {
  readonly name: string
  readonly list: boolean
  readonly named: boolean
  /** It may hold what else divides a URI. */
  readonly open: boolean
}

/** A variable with the place it has in the URI: what ends it, and what stands between the values of a list. */
interface Slot extends Variable { readonly stops: string, readonly separator: string }
type Part = string | Slot
type Values = Map<string, string | string[]>
interface Tail { readonly first: string, readonly separator: string, readonly variables: Map<string, Variable> }

/** What each operator begins with, and separates by; `open` values keep the reserved characters (RFC 6570 appendix A). */
const OPERATORS: Record<string, { first: string, separator: string, open?: boolean, named?: boolean }> = {
  '': { first: '', separator: ',' },
  '+': { first: '', separator: ',', open: true },
  '#': { first: '#', separator: ',', open: true },
  '.': { first: '.', separator: '.' },
  '/': { first: '/', separator: '/' },
  ';': { first: ';', separator: ';', named: true },
  '?': { first: '?', separator: '&', named: true },
  '&': { first: '&', separator: '&', named: true }
}
const PIECES = /\{([^{}]*)\}|[^{}]+/g
const NOT_ASCII = /[^\0-\x7f]+/g
const HEX = /^[0-9a-f]{2}$/i

/** @throws Error that says what is wrong with the template */
export function uriTemplate (template: string): UriTemplate {
  if (!isTemplate(template)) throw new Error('it is not a URI template (RFC 6570)')
  const { parts, tail, variables } = new Reader().read(template)
  const literals = parts.reduce((sum, part) => typeof part === 'string' ? sum + part.length : sum, 0)
  return {
    variables,
    literals,
    match: uri => matched(parts, tail, uri),
    expand: values => parseTemplate(template).expand(values)
  }
}

const isTemplate = (text: string): boolean => (fullFormats['uri-template'] as RegExp).test(text)
/** An absolute URI (RFC 3986). */
export const isUri = (text: string): boolean => (fullFormats.uri as (text: string) => boolean)(text)

class Reader {
  readonly parts: Part[] = []
  readonly variables: Variable[] = []
  tail: Tail | undefined

  read (template: string): this {
    const tailFirst = /\{([;?&])/.exec(template)?.[1] ?? ''
    for (const [piece, expression] of template.matchAll(PIECES)) {
      if (this.tail !== undefined && !/^[?&;]/.test(expression ?? '')) throw new Error(`nothing may follow {${this.tail.first}…}, but ${piece} does`)
      if (expression === undefined) this.literal(parseTemplate(piece).expand({})) // as it stands in a URI: percent-encoded where it must be
      else this.expression(expression, tailFirst)
    }
    if (this.variables.length === 0) throw new Error('it has no variables, so it is a uri')
    return this
  }

  private literal (text: string): void {
    if (text === '') return
    const last = this.parts.length - 1
    if (typeof this.parts[last] === 'string') this.parts[last] += text
    else this.parts.push(text)
  }

  private expression (expression: string, tailFirst: string): void {
    const symbol = /^\W/.exec(expression)?.[0] ?? ''
    const operator = OPERATORS[symbol]
    if (operator === undefined) throw new Error(`{${expression}} has an operator that RFC 6570 keeps for later`)
    const { first, separator, open = false, named = false } = operator
    const specs = expression.slice(symbol.length).split(',').map(spec => this.variable(spec, named, open || named))
    if (named) return this.named(expression, first, separator, specs)
    const inQuery = this.parts.some(part => typeof part === 'string' && part.includes('?'))
    const comma = specs.length > 1 && separator === ',' ? ',' : ''
    const stops = (open ? '' : `/?#\\${comma}${inQuery ? '&' : ''}`) + tailFirst
    specs.forEach((spec, i) => {
      this.literal(i === 0 ? first : separator)
      this.parts.push({ ...spec, separator, stops: spec.list ? stops.replace(separator, '') : stops })
    })
  }

  /** Named variables end a template: that is where every URI has them. */
  private named (expression: string, first: string, separator: string, specs: Variable[]): void {
    this.tail ??= { first, separator, variables: new Map() }
    if (this.tail.separator !== separator || (first === '?' && this.tail.variables.size > 0)) throw new Error(`{${expression}} cannot follow {${this.tail.first}…}`)
    for (const spec of specs) this.tail.variables.set(spec.name, spec)
  }

  private variable (spec: string, named: boolean, open: boolean): Variable {
    // The rest of the value is not in the URI.
    if (spec.includes(':')) throw new Error(`{${spec}} is a prefix, which cannot be read back from a URI`)
    const list = spec.endsWith('*')
    const name = list ? spec.slice(0, -1) : spec
    if (this.variables.some(one => one.name === name)) throw new Error(`it has the variable "${name}" twice`)
    const variable = { name, list, named, open }
    this.variables.push(variable)
    return variable
  }
}

function matched (parts: readonly Part[], tail: Tail | undefined, given: string): Variables | undefined {
  const uri = ascii(given)
  if (uri === undefined || !plausible(parts, uri)) return undefined
  const reach = table(parts, tail, uri)
  if (reach[0]?.[0] !== 1) return undefined
  const values: Values = new Map()
  let at = 0
  for (const [i, part] of parts.entries()) {
    const end = typeof part === 'string' ? at + part.length : farthest(uri, at, part, reach[i + 1] as Uint8Array)
    const value = typeof part === 'string' ? '' : read(uri.slice(at, end), part)
    if (value === undefined) return undefined
    if (typeof part !== 'string') values.set(part.name, value)
    at = end
  }
  return tail === undefined || named(uri.slice(at), tail, values) ? Object.fromEntries(values) : undefined
}

/** Most templates of a server fail here: the URI does not begin with their first text, or lacks one of the others. */
function plausible (parts: readonly Part[], uri: string): boolean {
  if (typeof parts[0] === 'string' && !uri.startsWith(parts[0])) return false
  let from = 0
  for (const part of parts) {
    const at = typeof part === 'string' ? uri.indexOf(part, from) : from
    if (at === -1) return false
    from = typeof part === 'string' ? at + part.length : at
  }
  return true
}

/** Row i says at which positions of the URI the parts from i on can begin, so that all of it is used up. Filled from the end; a cell looks at two others. */
function table (parts: readonly Part[], tail: Tail | undefined, uri: string): Uint8Array[] {
  let after = new Uint8Array(uri.length + 1)
  after[uri.length] = 1
  if (tail !== undefined) for (let at = 0; at < uri.length; at++) if (uri[at] === tail.first) after[at] = 1
  const rows = [after]
  for (const part of parts.toReversed()) {
    const here = new Uint8Array(uri.length + 1)
    for (let at = uri.length - 1; at >= 0; at--) {
      if (typeof part === 'string') here[at] = after[at + part.length] === 1 && uri.startsWith(part, at) ? 1 : 0
      else {
        const next = at + step(uri, at, part)
        here[at] = next > at && (after[next] === 1 || here[next] === 1) ? 1 : 0
      }
    }
    rows.unshift(after = here)
  }
  return rows
}

/** Where the value ends: as late as what follows allows. */
function farthest (uri: string, from: number, slot: Slot, after: Uint8Array): number {
  let end = from
  for (let at = from, by = step(uri, at, slot); by > 0; by = step(uri, at, slot)) {
    at += by
    if (after[at] === 1) end = at
  }
  return end
}

/** How many characters to go on within the value: three for an encoded byte, none where it ends. What is encoded counts as what it stands for. */
function step (uri: string, at: number, { open, stops }: Slot): number {
  const char = uri[at]
  if (char === undefined || char <= ' ' || stops.includes(char)) return 0
  if (char !== '%') return 1
  const hex = uri.slice(at + 1, at + 3)
  const byte = HEX.test(hex) ? String.fromCharCode(parseInt(hex, 16)) : '\0'
  return byte === '\0' || (!open && (byte === '/' || byte === '\\')) ? 0 : 3
}

function read (raw: string, { list, open, separator }: Slot): string | string[] | undefined {
  if (!list) return decoded(raw, open)
  const values = raw.split(separator).map(value => decoded(value, open))
  return values.includes(undefined) ? undefined : values as string[]
}

/** Decoded once. No segment of a path is empty, this one or the one above. */
function decoded (raw: string, open: boolean): string | undefined {
  try {
    const value = decodeURIComponent(raw)
    return value.includes('\0') || (!open && ['', '.', '..'].includes(value)) ? undefined : value
  } catch { // not UTF-8
    return undefined
  }
}

/** Takes in what stands with its name; false where there is anything else. */
function named (rest: string, { separator, variables }: Tail, values: Values): boolean {
  for (const { name, list } of variables.values()) if (list) values.set(name, [])
  if (rest === '') return true
  if (rest.includes('#')) return false
  for (const pair of rest.slice(1).split(separator)) {
    const [name = '', ...raw] = pair.split('=')
    const variable = variables.get(name)
    const value = decoded(raw.join('='), true)
    if (variable === undefined || value === undefined) return false
    const before = values.get(name)
    if (Array.isArray(before)) before.push(value)
    else if (before === undefined) values.set(name, value)
    else return false
  }
  return true
}

/** Clients send what is not ASCII as it is, or encoded (RFC 3987 section 3.1). */
function ascii (uri: string): string | undefined {
  try {
    return uri.replace(NOT_ASCII, encodeURIComponent)
  } catch { // half a surrogate pair
    return undefined
  }
}
