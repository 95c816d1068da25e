import { isObject } from '../jsonrpc.js'
import type { Words } from './revision.js'

// Takes out of a result what a handshake revision cannot say, and says in another way what it can.

type Members = Record<string, unknown>

/** Members that every result of 2026-07-28 may have and none before it. */
const LATER = new Set(['resultType', 'ttlMs', 'cacheScope'])

export function cut (words: Words, method: string, result: Members): Members {
  switch (method) {
    case 'tools/call': return cutCall(words, result)
    case 'tools/list': return { ...older(result), tools: each(result.tools, tool => cutTool(words, tool)) }
    case 'resources/list': return { ...older(result), resources: each(result.resources, one => cutResource(words, one)) }
    case 'resources/templates/list': return { ...older(result), resourceTemplates: each(result.resourceTemplates, one => cutResource(words, one)) }
    case 'resources/read': return { ...older(result), contents: each(result.contents, one => pick(one, words.contents)) }
    case 'prompts/list': return { ...older(result), prompts: each(result.prompts, one => cutPrompt(words, one)) }
    case 'prompts/get': return { ...older(result), messages: each(result.messages, one => ({ role: one.role, content: cutBlock(words, one.content as Members) })) }
    case 'initialize': return {
      ...result,
      capabilities: pick(result.capabilities as Members, words.capabilities),
      serverInfo: pick(result.serverInfo as Members, words.implementation)
    }
    default: return older(result)
  }
}

function cutTool (words: Words, tool: Members): Members {
  const out = pick(tool, words.tool)
  if (isObject(tool.outputSchema) && !structures(words, tool.outputSchema.type === 'object')) delete out.outputSchema
  // Before 2025-06-18 a display name stood among the annotations.
  if (tool.title !== undefined && !words.tool.includes('title') && words.tool.includes('annotations')) out.annotations = { title: tool.title, ...tool.annotations as Members | undefined }
  return out
}

function cutCall (words: Words, result: Members): Members {
  const out: Members = { ...result }
  if ('structuredContent' in out && !structures(words, isObject(out.structuredContent))) delete out.structuredContent
  if (Array.isArray(out.content)) out.content = each(out.content, block => cutBlock(words, block))
  return out
}

function cutResource (words: Words, resource: Members): Members {
  return annotated(words, pick(resource, words.resource))
}

function cutPrompt (words: Words, prompt: Members): Members {
  const out = pick(prompt, words.prompt)
  if (out.arguments !== undefined) out.arguments = each(out.arguments, argument => pick(argument, words.argument))
  return out
}

function cutBlock (words: Words, block: Members): Members {
  if (words.content.includes(String(block.type))) {
    const out = annotated(words, pick(block, words.block))
    if (isObject(out.resource)) out.resource = pick(out.resource, words.contents)
    return out
  }
  const text = block.type === 'resource_link'
    ? `${block.title ?? block.name}: ${block.uri}`
    : `(${block.mimeType ?? block.type}, which this revision of the protocol cannot carry)`
  return { type: 'text', text }
}

function annotated (words: Words, out: Members): Members {
  if (isObject(out.annotations)) out.annotations = pick(out.annotations, words.annotations)
  return out
}

const each = (list: unknown, cutOne: (one: Members) => Members): Members[] => (list as Members[]).map(cutOne)

const structures = (words: Words, object: boolean): boolean => words.structured === 'any' || (words.structured === 'object' && object)

const older = (result: Members): Members => Object.fromEntries(Object.entries(result).filter(([name]) => !LATER.has(name)))

function pick (from: Members, names: readonly string[]): Members {
  const out: Members = {}
  for (const name in from) if (names.includes(name) && from[name] !== undefined) out[name] = from[name]
  return out
}
