import { META } from '../schemas/envelope.js'
import { revision20251125 } from './2025-11-25.js'
import { jsonOf } from './json.js'
import { more, plus, without } from './revision.js'
import type { Revision } from './revision.js'

const removed = ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']
const MISSING_CAPABILITY = -32021

export const revision20260728: Revision = {
  ...revision20251125,
  version: '2026-07-28',
  stateless: true,
  requests: plus(without(revision20251125.requests, ...removed), 'server/discover', 'subscriptions/listen'),
  // On HTTP a closed stream cancels; the notification is for stdio.
  notifications: new Set(['notifications/cancelled']),
  words: more(revision20251125.words, { capabilities: ['extensions'], structured: 'any' }),
  ask: { ...revision20251125.ask, as: 'result', url: 'plain' },
  resourceNotFound: -32602,
  mirrors: true,
  resumes: 'no',
  unknownMethod: 404,
  statuses: { [MISSING_CAPABILITY]: 400 },
  // What every result begins with is put before its own members as text; only a result with such members of its own is put together as an object.
  encode (method, result, identity) {
    if (result._meta !== undefined || result.resultType !== undefined) {
      return JSON.stringify({ resultType: 'complete', ...result, _meta: { [META.serverInfo]: JSON.parse(identity), ...result._meta as object | undefined } })
    }
    const own = jsonOf(result)
    const head = `{"resultType":"complete","_meta":{"${META.serverInfo}":${identity}}`
    return own === '{}' ? head + '}' : `${head},${own.slice(1)}`
  }
}
