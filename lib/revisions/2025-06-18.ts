import { revision20250326 } from './2025-03-26.js'
import { more } from './revision.js'
import type { Revision } from './revision.js'

export const revision20250618: Revision = {
  ...revision20250326,
  version: '2025-06-18',
  words: more(revision20250326.words, {
    tool: ['title', 'outputSchema', '_meta'],
    implementation: ['title'],
    content: ['resource_link'],
    block: ['uri', 'name', 'title', 'description', 'size', '_meta'],
    resource: ['title', '_meta'],
    contents: ['_meta'],
    prompt: ['title', '_meta'],
    argument: ['title'],
    annotations: ['lastModified'],
    structured: 'object'
  }),
  ask: { ...revision20250326.ask, form: 'plain' },
  batches: false
}
