import { asked } from './ask.js'
import { cut } from './cut.js'
import type { Revision } from './revision.js'

const requests = [
  'initialize', 'ping', 'logging/setLevel', 'completion/complete', 'tools/list', 'tools/call', 'prompts/list', 'prompts/get',
  'resources/list', 'resources/templates/list', 'resources/read', 'resources/subscribe', 'resources/unsubscribe'
]

export const revision20241105: Revision = {
  version: '2024-11-05',
  stateless: false,
  requests: new Set(requests),
  notifications: new Set(['notifications/initialized', 'notifications/cancelled', 'notifications/progress', 'notifications/roots/list_changed']),
  words: {
    tool: ['name', 'description', 'inputSchema'],
    progress: ['progressToken', 'progress', 'total'],
    implementation: ['name', 'version'],
    capabilities: ['experimental', 'logging', 'prompts', 'resources', 'tools'],
    content: ['text', 'image', 'resource'],
    block: ['type', 'text', 'data', 'mimeType', 'resource', 'annotations'],
    resource: ['uri', 'uriTemplate', 'name', 'description', 'mimeType', 'size', 'annotations'],
    contents: ['uri', 'mimeType', 'text', 'blob'],
    prompt: ['name', 'description', 'arguments'],
    argument: ['name', 'description', 'required'],
    annotations: ['audience', 'priority'],
    structured: 'none'
  },
  ask: { as: 'request', parts: false, sampling: { content: ['text', 'image'], tools: false } },
  question (method, params, id) { return asked(this.ask, method, params, id) },
  badArguments: 'error',
  resourceNotFound: -32002,
  batches: false,
  resumes: 'no',
  mirrors: false,
  unknownMethod: 200,
  statuses: {},
  encode (method, result) { return JSON.stringify(cut(this.words, method, result)) }
}
