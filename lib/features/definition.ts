import type { FastifyInstance } from 'fastify'
import { isObject } from '../jsonrpc.js'
import { Shown } from '../schemas/definition.js'
import { checkOf } from '../validate.js'

// The definition of a tool, a resource or a prompt, checked when it is added: a client that is shown one wrong member drops the whole list.

const words = (text: string) => new Set(text.split(' '))
const common = 'name title description icons _meta scopes visible'
const hints = 'title readOnlyHint destructiveHint idempotentHint openWorldHint'
const KNOWN = {
  Tool: { members: words(`${common} annotations inputSchema outputSchema timeout concurrency rateLimit maxResultBytes confirm handler`), annotations: words(hints) },
  Resource: { members: words(`${common} uri uriTemplate mimeType size annotations cache variables complete list read handler`), annotations: words('audience priority lastModified') },
  Prompt: { members: words(`${common} argsSchema complete handler`), annotations: words('') }
}
const ICON = words('src mimeType sizes theme')

const check = checkOf(Shown)
const warnedOf = new WeakSet<object>()

/** @throws Error that names the member, what it must be and what it is */
export function inspect (kind: keyof typeof KNOWN, key: string, definition: object, app: FastifyInstance): void {
  const problem = shownProblem(definition)
  if (problem !== undefined) throw new Error(problem)
  if (warnedOf.has(definition)) return
  warnedOf.add(definition)
  for (const [member, known] of strangers(kind, definition)) app.log.warn(`${kind} "${key}": ${member} is no member that is known here; is it misspelt? Known: ${[...known].join(', ')}`)
}

/** What is wrong with what a list would show. */
export const shownProblem = (definition: object): string | undefined => check(definition)

/** Members that nobody reads, each with those that might be meant. */
function * strangers (kind: keyof typeof KNOWN, definition: { annotations?: unknown, icons?: unknown }): Generator<[string, Set<string>]> {
  const { members, annotations } = KNOWN[kind]
  for (const name of Object.keys(definition)) if (!members.has(name)) yield [name, members]
  if (isObject(definition.annotations) && members.has('annotations')) for (const name of Object.keys(definition.annotations)) if (!annotations.has(name)) yield [`annotations.${name}`, annotations]
  if (Array.isArray(definition.icons)) for (const [i, icon] of definition.icons.entries()) for (const name of Object.keys(icon)) if (!ICON.has(name)) yield [`icons[${i}].${name}`, ICON]
}
