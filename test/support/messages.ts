// Messages as a hostile or broken client may send them: the words are right, what they stand for is not.
import fc from 'fast-check'

const prefix = 'io.modelcontextprotocol/'
const words = [
  '2.0', 'initialize', 'ping', 'tools/list', 'tools/call', 'server/discover', 'logging/setLevel', 'completion/complete', 'resources/read', 'prompts/get',
  'notifications/cancelled', 'notifications/initialized', 'echo', '2025-11-25', '2026-07-28', '2025-03-26', 1, 0, -1, 1.5, 1e300, '', null, true, [], {}, undefined
]
const word = fc.constantFrom<unknown>(...words)
const value = fc.oneof(word, fc.jsonValue())
const meta = fc.dictionary(fc.constantFrom(`${prefix}protocolVersion`, `${prefix}clientCapabilities`, `${prefix}clientInfo`, `${prefix}logLevel`, 'progressToken', '__proto__'), value)
const members = ['name', 'cursor', 'protocolVersion', 'capabilities', 'clientInfo', 'level', 'requestId', 'uri', 'ref', 'argument', 'requestState', 'inputResponses']
const params = fc.record({ _meta: fc.oneof(meta, word), arguments: fc.oneof(value, fc.dictionary(fc.string(), fc.jsonValue())), ...Object.fromEntries(members.map(name => [name, value])) }, { requiredKeys: [] })
const version = fc.oneof({ weight: 9, arbitrary: fc.constant<unknown>('2.0') }, { weight: 1, arbitrary: word })
const message = fc.record({ jsonrpc: version, id: word, method: word, params: fc.oneof(value, params), result: word, error: word }, { requiredKeys: ['jsonrpc'] })

/** The text of a message, of several, or of anything else that is JSON. */
export const anyText = fc.oneof({ weight: 6, arbitrary: message }, { weight: 1, arbitrary: fc.array(message, { maxLength: 3 }) }, { weight: 1, arbitrary: fc.jsonValue() }).map(one => JSON.stringify(one))

/** Whether a value is one message of a server, or an array of them. */
export const isAnswer = (value: any): boolean => [value].flat().every(one => one.jsonrpc === '2.0' && ('method' in one || ('result' in one) !== ('error' in one)))
