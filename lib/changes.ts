import { notificationText } from './jsonrpc.js'

/** Something changed. Becomes a message only where somebody listens. */
export interface Change {
  readonly kind: 'tools' | 'prompts' | 'resources' | 'resource'
  readonly uri?: string
}

/** How much one client may ask to be told of: characters of URIs. Without a bound, subscribing would fill the memory. */
export const MAX_URIS = 65_536

const METHODS: Record<Change['kind'], string> = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
  resource: 'notifications/resources/updated'
}

/** All that may have changed for who listens to these resources. */
export const anything = (uris: Iterable<string> = []): Change[] => [{ kind: 'tools' }, { kind: 'prompts' }, { kind: 'resources' }, ...[...uris].map(uri => ({ kind: 'resource' as const, uri }))]

export const changeText = (change: Change, meta?: Record<string, unknown>): string => {
  if (meta === undefined && change.uri === undefined) return `{"jsonrpc":"2.0","method":"${METHODS[change.kind]}"}`
  return notificationText(METHODS[change.kind], { _meta: meta, uri: change.uri })
}
