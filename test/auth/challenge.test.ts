import fc from 'fast-check'
import t from 'tap'
import { challengeOf, credentialsOf } from '../../lib/auth/challenge.js'

const metadata = 'https://a.example/.well-known/oauth-protected-resource/mcp'

t.test('what is needed, what is wrong, and where to read on', async t => {
  t.equal(challengeOf({ metadata }), `Bearer resource_metadata="${metadata}"`)
  t.equal(challengeOf({ metadata, scopes: ['a:r', 'b'], error: 'insufficient_scope', description: 'more' }), `Bearer error="insufficient_scope", error_description="more", scope="a:r b", resource_metadata="${metadata}"`)
  t.equal(challengeOf({ metadata, scopes: [] }, 'DPoP'), `DPoP resource_metadata="${metadata}"`)
})

t.test('whatever is described, the header stays one header of quoted strings', async t => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), description => {
    const header = challengeOf({ metadata, description })
    return /^Bearer (\w+="(?:[^"\\\r\n]|\\["\\])*"(, |$))+$/.test(header) && /^[\x20-\x7e]*$/.test(header)
  }))
  t.pass('no counterexample')
})

t.test('credentials', async t => {
  const rows: Array<[string | undefined, object | undefined]> = [
    ['Bearer abc', { scheme: 'bearer', token: 'abc' }], ['bearer  abc ', { scheme: 'bearer', token: 'abc' }], ['DPOP a.b.c', { scheme: 'dpop', token: 'a.b.c' }],
    [undefined, undefined], ['', undefined], ['Bearer', undefined], ['Bearer ', undefined], ['Basic eA==', undefined], ['abc', undefined], ['Bearerabc', undefined]
  ]
  for (const [header, expected] of rows) t.strictSame(credentialsOf(header), expected, String(header))
})
