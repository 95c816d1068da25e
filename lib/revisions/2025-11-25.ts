import { revision20250618 } from './2025-06-18.js'
import { isObject } from '../jsonrpc.js'
import { cut } from './cut.js'
import { jsonOf } from './json.js'
import { more } from './revision.js'
import type { Revision } from './revision.js'

export const revision20251125: Revision = {
  ...revision20250618,
  version: '2025-11-25',
  words: more(revision20250618.words, { tool: ['icons'], implementation: ['description', 'icons', 'websiteUrl'], block: ['icons'], resource: ['icons'], prompt: ['icons'] }),
  ask: { ...revision20250618.ask, parts: true, sampling: { ...revision20250618.ask.sampling, tools: true }, form: 'full', url: 'with id' },
  badArguments: 'result',
  resumes: 'primed',
  encode (method, result) {
    // It has every word a call can answer with but structured content that is no object: nothing to cut from the rest.
    const whole = method === 'tools/call' && (result.structuredContent === undefined || isObject(result.structuredContent))
    return whole ? jsonOf(result) : JSON.stringify(cut(this.words, method, result))
  }
}
