import { isObject } from '../jsonrpc.js'

// How the arguments of a call are shown to a user. Their names, their order and what is in them are the model's word: none of it may hide what the
// schema names, nor look like it.

/** Arguments that are shown besides those that the schema names, and characters of each. */
const MAX_STRANGE = 20
const MAX_LENGTH = 100
/** What would not be seen, or would make what follows look like something else. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** One line for each argument: all that the schema names, in its order, then some of the others, with their names in quotes, and how many more there are. */
export function lines (args: Record<string, unknown>, names: ReadonlySet<string>): string[] {
  const [known, strange] = parted(args, names)
  const more = strange.length - MAX_STRANGE
  return [
    ...known.map(([name, value]) => `${short(name)}: ${short(text(value, names))}`),
    ...strange.slice(0, MAX_STRANGE).map(([name, value]) => `${short(JSON.stringify(name))}: ${short(text(value, names))}`),
    ...(more > 0 ? [`… and ${more} more`] : [])
  ]
}

type Members = Array<[string, unknown]>

function parted (value: Record<string, unknown>, names: ReadonlySet<string>): [known: Members, strange: Members] {
  const known = [...names].filter(name => Object.hasOwn(value, name)).map(name => [name, value[name]] as [string, unknown])
  return [known, Object.entries(value).filter(([name]) => !names.has(name))]
}

/** JSON, but for the order: a long text is cut, and what the schema names shall not be behind the rest. */
function text (value: unknown, names: ReadonlySet<string>): string {
  if (Array.isArray(value)) return `[${value.map(one => text(one, names)).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'nothing'
  return `{${parted(value, names).flat().map(([name, member]) => `${JSON.stringify(name)}:${text(member, names)}`).join(',')}}`
}

function short (text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH).replace(/[\ud800-\udbff]$/, '')}… (${text.length} characters)` : text
  return cut.replace(UNSEEN, character => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
