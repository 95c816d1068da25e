import { revision20241105 } from './2024-11-05.js'
import { more } from './revision.js'
import type { Revision } from './revision.js'

export const revision20250326: Revision = {
  ...revision20241105,
  version: '2025-03-26',
  words: more(revision20241105.words, { tool: ['annotations'], progress: ['message'], capabilities: ['completions'], content: ['audio'] }),
  ask: { as: 'request', parts: false, sampling: { content: ['text', 'image', 'audio'], tools: false } },
  batches: true,
  resumes: 'yes'
}
