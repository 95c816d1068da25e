import t from 'tap'
import { Access } from '../../lib/auth/access.js'
import { admit, gateOf, OPEN, sees, Views, type Gate } from '../../lib/features/gate.js'
import { endpointOf, exchangeOf } from '../support/doubles.js'

function asking (scopes: string[] | undefined, options: ConstructorParameters<typeof Access>[0] = {}) {
  const endpoint = Object.assign({}, endpointOf().endpoint, { access: new Access(options, undefined) })
  const { exchange } = exchangeOf(endpoint, 'tools/list')
  return Object.assign(exchange, { auth: scopes && { subject: 'ada', scopes } })
}

t.test('what has no scope and is visible to all is open', async t => {
  t.equal(gateOf({}), OPEN)
  t.equal(gateOf({ scopes: [] }), OPEN)
  t.ok(sees(OPEN, asking(undefined)))
  t.doesNotThrow(() => admit(OPEN, asking(undefined)))
})

t.test('a definition that is wrong says why', async t => {
  for (const scopes of ['admin', {}, 7]) t.throws(() => gateOf({ scopes } as never), { message: /^scopes must be an array of scopes, got / }, JSON.stringify(scopes))
  for (const one of ['', 'a b', 'a"b', 'a\\b', 'ä', 7]) t.throws(() => gateOf({ scopes: ['x', one] } as never), { message: /^scopes\/1 must be a scope, of printable ASCII characters .*\(RFC 6749 section 3\.3\), got (string|number) / }, JSON.stringify(one))
  t.throws(() => gateOf({ visible: true } as never), { message: /visible must be a function, got boolean true/ })
})

t.test('scopes are asked for, and shown or hidden as the endpoint says', async t => {
  const gate = gateOf({ scopes: ['a', 'b'] })
  t.ok(sees(gate, asking(['a'])), 'so that a client can ask for more')
  t.throws(() => admit(gate, asking(['a'])), { code: -32600, message: /a b/ })
  t.throws(() => admit(gate, asking(undefined)), { code: -32600, message: /scope/ })
  t.doesNotThrow(() => admit(gate, asking(['b', 'a'])))
  t.notOk(sees(gate, asking(['a'], { denied: 'hide' })))
  t.ok(sees(gate, asking(['a', 'b'], { denied: 'hide' })))
})

t.test('visible is asked with the context of the call', async t => {
  const gate = gateOf({ visible: ctx => ctx.auth?.subject === 'ada' })
  t.ok(sees(gate, asking([])))
  t.notOk(sees(gate, asking(undefined)))
  t.notOk(sees(gateOf({ visible: () => 1 as never }), asking([])), 'true alone is true')
})

t.test('a list is arranged once for all who see the same', async t => {
  let arranged = 0
  const views = new Views<{ name: string, gate: Gate }, string>((entries, own) => { arranged++; return `${entries.map(one => one.name).join('')} ${own}` })
  const one = (name: string, gate = OPEN) => ({ name, gate })
  const plain = [one('a'), one('b')]
  t.equal(views.of(plain, asking(undefined)), 'ab false', 'it is nobody\'s own')
  views.of(plain, asking(['x']))
  t.equal(arranged, 1)
  const gated = [one('a'), one('b', gateOf({ visible: ctx => ctx.auth !== undefined })), one('c', gateOf({ scopes: ['x'] }))]
  t.strictSame([undefined, [], ['x'], ['y']].map(scopes => views.of(gated, asking(scopes))), ['ac true', 'abc true', 'abc true', 'abc true'])
  t.equal(arranged, 3)
  t.strictSame([[], ['x']].map(scopes => views.of([...gated], asking(scopes, { denied: 'hide' }))), ['ab true', 'abc true'])
  const shown = [one('a'), one('c', gateOf({ scopes: ['x'] }))]
  t.equal(views.of(shown, asking(undefined)), 'ac false', 'scopes alone hide nothing')
})

t.test('there are as many views as may be kept', async t => {
  let arranged = 0
  const views = new Views<{ name: string, gate: Gate }, number>(() => ++arranged)
  const entries = Array.from({ length: 10 }, (_, i) => ({ name: `${i}`, gate: gateOf({ visible: ctx => ctx.auth?.scopes.includes(`${i}`) === true }) }))
  const seenBy = (n: number) => asking([...n.toString(2).padStart(10, '0')].map((bit, i) => bit === '1' ? `${i}` : 'none'))
  for (let n = 1; n <= 64; n++) views.of(entries, seenBy(n))
  t.equal(arranged, 64)
  views.of(entries, seenBy(64))
  t.equal(arranged, 64, 'kept')
  views.of(entries, seenBy(65))
  views.of(entries, seenBy(1))
  t.equal(arranged, 66, 'the oldest went')
})

t.test('a visible that fails hides what it is for, and nothing else', async t => {
  const double = endpointOf()
  const { exchange } = exchangeOf(double.endpoint, 'tools/list')
  const gates: [string, Gate][] = [
    ['open', OPEN],
    ['throws', gateOf({ name: 'throws', visible: () => { throw new Error('no table') } })],
    ['late', gateOf({ name: 'late', visible: (async () => { throw new Error('late') }) as never })],
    ['promised', gateOf({ name: 'promised', visible: (async () => true) as never })],
    ['shown', gateOf({ name: 'shown', visible: () => true })]
  ]
  const views = new Views<{ name: string, gate: Gate }, string>(entries => entries.map(one => one.name).join())
  const entries = gates.map(([name, gate]) => ({ name, gate }))
  for (let i = 0; i < 2; i++) t.equal(views.of(entries, exchange), 'open,shown')
  t.match(double.log.map(({ level, fields }) => [level, fields.name, fields.err.message]), [
    ['error', 'throws', 'no table'], ['error', 'late', /gave a promise/], ['error', 'promised', /gave a promise/], ['error', 'throws', 'no table']
  ])
  t.equal(double.log.length, 4, 'a promise is told of once')
})
