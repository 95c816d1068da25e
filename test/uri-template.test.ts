import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { parseTemplate } from 'url-template'
import { isUri, uriTemplate } from '../lib/uri-template.js'
import type { Variables } from '../lib/uri-template.js'
import { thrown } from './support/thrown.js'

/** Without half a pair of surrogates. */
const wellFormed = (text: string) => !/\p{Surrogate}/u.test(text)
const matching = (template: string, uri: string) => uriTemplate(template).match(uri)

t.test('a template is matched with what its variables were filled in with', async t => {
  const rows: [string, string, Variables | undefined][] = [
    ['mem://item/{id}', 'mem://item/7', { id: '7' }],
    ['mem://item/{id}', 'mem://item/a%20b', { id: 'a b' }],
    ['mem://item/{id}', "mem://item/a!*'(),;:@=+$&b", { id: "a!*'(),;:@=+$&b" }],
    ['mem://{a}/x/{b}', 'mem://1/x/2', { a: '1', b: '2' }],
    ['mem://{a,b}', 'mem://1,2', { a: '1', b: '2' }],
    ['mem://{a,b}', 'mem://1,2,3', undefined],
    ['mem://{name}{.ext}', 'mem://a.tar.gz', { name: 'a.tar', ext: 'gz' }],
    ['mem://x{.a,b}', 'mem://x.1.2', { a: '1', b: '2' }],
    ['mem://x{/a,b}', 'mem://x/1/2', { a: '1', b: '2' }],
    ['mem://dir/{+path}', 'mem://dir/a/b%20c', { path: 'a/b c' }],
    ['mem://{+path}/x', 'mem://a/x/b/x', { path: 'a/x/b' }],
    ['mem://{+dir}/{file}', 'mem://a/b/c', { dir: 'a/b', file: 'c' }],
    ['mem://x{#part}', 'mem://x#a/b', { part: 'a/b' }],
    ['mem://{a}{b}', 'mem://xyz', { a: 'xy', b: 'z' }],
    ['{scheme}://x', 'mem://x', { scheme: 'mem' }],
    ['mem://x?id={id}&to={to}', 'mem://x?id=1&to=2', { id: '1', to: '2' }]
  ]
  for (const [template, uri, values] of rows) t.strictSame(matching(template, uri), values, `${template} ${uri}`)
})

t.test('what is fixed must be there as it is', async t => {
  for (const uri of ['mem://item/', 'mem://item', 'mem://other/7', 'xmem://item/7', 'MEM://item/7', '', 'mem://item/7/x']) t.equal(matching('mem://item/{id}', uri), undefined, uri)
  t.equal(matching('mem://{a}/x', 'mem://a/y'), undefined)
  t.equal(matching('mem://a/{b}/a/{c}', 'mem://a/1'), undefined)
  t.strictSame(matching('mem://größe/{a}', 'mem://gr%C3%B6%C3%9Fe/1'), { a: '1' }, 'encoded where a URI has it encoded')
})

t.test('named variables may be missing and stand in any order', async t => {
  const rows: [string, string, Variables | undefined][] = [
    ['mem://s{?q,limit}', 'mem://s?q=a%2Fb&limit=5', { q: 'a/b', limit: '5' }],
    ['mem://s{?q,limit}', 'mem://s?limit=5&q=a', { limit: '5', q: 'a' }],
    ['mem://s{?q,limit}', 'mem://s', {}],
    ['mem://s{?q}', 'mem://s?q=', { q: '' }],
    ['mem://s{?q}', 'mem://s?q', { q: '' }],
    ['mem://s{?q}', 'mem://s?q=a=b', { q: 'a=b' }],
    ['mem://s{?q}', 'mem://s?', undefined],
    ['mem://s{?q}', 'mem://s?r=1', undefined],
    ['mem://s{?q}', 'mem://s?q=1&q=2', undefined],
    ['mem://s{?q}', 'mem://s?q=1#x', undefined],
    ['mem://s{?q}', 'mem://s?q=%zz', undefined],
    ['mem://s{?q}{&r}', 'mem://s?r=1', { r: '1' }],
    ['mem://s?a=1{&r}', 'mem://s?a=1&r=2', { r: '2' }],
    ['mem://s?a={a}{&r}', 'mem://s?a=1&r=2', { a: '1', r: '2' }],
    ['mem://s{;a,b}', 'mem://s;b=2;a', { b: '2', a: '' }],
    ['mem://{+path}{?q}', 'mem://a/b?q=1', { path: 'a/b', q: '1' }],
    ['mem://s{?constructor}', 'mem://s?constructor=1', { constructor: '1' } as unknown as Variables]
  ]
  for (const [template, uri, values] of rows) t.strictSame(matching(template, uri), values, `${template} ${uri}`)
})

t.test('a variable with * is a list', async t => {
  const rows: [string, string, Variables | undefined][] = [
    ['mem://u{/id*}', 'mem://u/a/b%20c', { id: ['a', 'b c'] }],
    ['mem://u{/id*}', 'mem://u/a//b', undefined],
    ['mem://u{/id*}', 'mem://u/a/../b', undefined],
    ['mem://u{/id*}', 'mem://u', undefined],
    ['mem://{a*}', 'mem://1,2', { a: ['1', '2'] }],
    ['mem://x{.a*}', 'mem://x.1.2', { a: ['1', '2'] }],
    ['mem://{+a*}', 'mem://1/2,3', { a: ['1/2', '3'] }],
    ['mem://q{?tags*}', 'mem://q?tags=a&tags=b', { tags: ['a', 'b'] }],
    ['mem://q{?tags*}', 'mem://q', { tags: [] }]
  ]
  for (const [template, uri, values] of rows) t.strictSame(matching(template, uri), values, `${template} ${uri}`)
})

t.test('a value of a path holds no way out of it, however it is encoded', async t => {
  const bad = ['..%2F..%2Fetc', '%2e%2e', '%2E', '..', '.', 'a%5Cb', 'a\\b', 'a/b', 'a%2fb', 'a%00b', 'a\0b', '%', '%z1', '%C3', '%C0%AF', 'a b', '']
  for (const template of ['x:/{v}', 'x:{/v}', 'x:{/v*}', 'x:/{v*}']) {
    for (const value of bad) if (!(template === 'x:{/v*}' && value === 'a/b')) t.equal(matching(template, `x:/${value}`), undefined, `${template} ${value}`)
  }
  t.strictSame(matching('x:/{v}', 'x:/..%252Fx'), { v: '..%2Fx' }, 'decoded once')
  t.strictSame(matching('x:/{+v}', 'x:/a%2F..%2Fb'), { v: 'a/../b' }, 'with + it is what it is')
  for (const value of ['a%00', 'a b', '%zz', '\0']) t.equal(matching('x:/{+v}', `x:/${value}`), undefined, JSON.stringify(value))
  t.equal(matching('x:/{?v}', 'x:/?v=%00'), undefined)
})

t.test('what is not ASCII may come encoded or not', async t => {
  t.strictSame(matching('x:/{v}', 'x:/größe'), { v: 'größe' })
  t.strictSame(matching('x:/{v}', 'x:/gr%C3%B6%C3%9Fe'), { v: 'größe' })
  t.equal(matching('x:/{v}', 'x:/\ud800'), undefined, 'half a pair is no character')
})

t.test('a template that cannot be matched is refused, with the reason', async t => {
  const rows: [string, RegExp][] = [
    ['mem://x', /no variables/], ['', /no variables/], ['mem://{a', /not a URI template/], ['mem://a}', /not a URI template/], ['mem://{}', /not a URI template/],
    ['a b{x}', /not a URI template/], ['mem://{a-b}', /not a URI template/], ['mem://{=a}', /\{=a\} has an operator/], ['mem://{a:3}', /\{a:3\} is a prefix/],
    ['mem://{a}/{a}', /"a" twice/], ['mem://{?a}/x', /nothing may follow \{\?…\}, but \/x does/], ['mem://{?a}{b}', /nothing may follow.*\{b\}/],
    ['mem://{;a}{?b}', /\{\?b\} cannot follow \{;…\}/], ['mem://{?a}{?b}', /\{\?b\} cannot follow/]
  ]
  for (const [template, message] of rows) t.match(thrown(() => uriTemplate(template)).message, message, template)
})

t.test('its variables are known, and how much of it is fixed', async t => {
  const { variables, literals } = uriTemplate('mem://{a}/{+b}/c{/d*}{?e,f*}')
  t.strictSame(variables.map(({ name, list, named, open }) => [name, list, named, open]), [
    ['a', false, false, false], ['b', false, false, true], ['d', true, false, false], ['e', false, true, true], ['f', true, true, true]
  ])
  t.equal(literals, 'mem:////c/'.length)
})

t.test('a URI is absolute', async t => {
  for (const uri of ['mem://a', 'urn:x:y', 'file:///a/b', 'https://a.example/?q=1#x']) t.ok(isUri(uri), uri)
  for (const uri of ['', 'a', '/a', 'mem://a b', 'mem://größe']) t.notOk(isUri(uri), uri)
})

// A template as it is written, and as a pattern that is slow but plainly right.

const stops: Record<string, string> = { '': '/?#\\\\', '+': '', '.': '/?#\\\\', '/': '/?#\\\\', '#': '' }
const piece = fc.oneof(
  fc.constantFrom('a', '/', '-', '.', '/a/', 'aa'),
  fc.constantFrom('', '+', '.', '/', '#').map(operator => ({ operator }))
)
const pieces = fc.array(piece, { minLength: 1, maxLength: 6 })
type Piece = string | { operator: string }

const written = (all: Piece[]) => 'x:' + all.map((one, i) => typeof one === 'string' ? one : `{${one.operator}v${i}}`).join('')
const quoted = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
const pattern = (all: Piece[]) => RegExp('^x:' + all.map((one, i) => {
  if (typeof one === 'string') return quoted(one)
  const first = './#'.includes(one.operator) ? quoted(one.operator) : ''
  const encoded = one.operator === '+' || one.operator === '#' ? '%[0-9A-F]{2}' : '%(?!2F|5C)[0-9A-F]{2}'
  return `${first}(?<v${i}>(?:${encoded}|[^%\\s${stops[one.operator]}])+)`
}).join('') + '$')

function reference (all: Piece[], uri: string): Variables | undefined {
  const groups = pattern(all).exec(uri)?.groups
  if (groups === undefined) return undefined
  const values: Variables = {}
  for (const [name, raw = ''] of Object.entries(groups)) {
    const { operator } = all[Number(name.slice(1))] as { operator: string }
    try {
      values[name] = decodeURIComponent(raw)
    } catch {
      return undefined
    }
    if (['.', '..'].includes(values[name]) && !['+', '#'].includes(operator)) return undefined
  }
  return values
}

t.test('it matches what a pattern with backtracking matches, and the same way', async t => {
  const unit = fc.constantFrom('a', 'b', '/', '-', '.', '#', '?', '%41', '%2F', '%')
  fc.assert(fc.property(pieces, fc.array(unit, { maxLength: 10 }), (all, units) => {
    const uri = 'x:' + units.join('')
    fc.pre(all.some(one => typeof one !== 'string'))
    assert.deepEqual(matching(written(all), uri), reference(all, uri))
  }), { numRuns: 3000 })
})

t.test('what was filled in by url-template is matched, and filling in what was matched gives the same URI', async t => {
  const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter(text => wellFormed(text) && !/[\0/\\%]|^\.\.?$/.test(text))
  fc.assert(fc.property(pieces, fc.array(value, { minLength: 6, maxLength: 6 }), (all, given) => {
    fc.pre(all.some(one => typeof one !== 'string'))
    const template = written(all)
    const uri = parseTemplate(template).expand(Object.fromEntries(given.map((one, i) => [`v${i}`, one])))
    const { match, expand } = uriTemplate(template)
    const values = match(uri)
    // Where variables touch, a value may end between the bytes of a character, or be the dots that no path has.
    if (values === undefined) assert.equal(reference(all, uri), undefined)
    else assert.equal(decodeURIComponent(expand(values)), decodeURIComponent(uri)) // `{+v}` encodes less
  }), { numRuns: 2000 })
})

t.test('one variable comes back as it was, whatever it holds', async t => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter(one => wellFormed(one) && !one.includes('\0'))
  fc.assert(fc.property(text, v => {
    assert.deepEqual(matching('x:a{?v}', uriTemplate('x:a{?v}').expand({ v })), { v })
    if (!/[/\\]/.test(v) && v !== '.' && v !== '..') assert.deepEqual(matching('x:/{v}/b', uriTemplate('x:/{v}/b').expand({ v })), { v })
  }))
  fc.assert(fc.property(fc.array(text.filter(one => !/[/\\]/.test(one) && one !== '.' && one !== '..'), { minLength: 1 }), v => {
    assert.deepEqual(matching('x:{/v*}', uriTemplate('x:{/v*}').expand({ v })), { v })
    assert.deepEqual(matching('x:a{?v*}', uriTemplate('x:a{?v*}').expand({ v })), { v })
  }))
})

t.test('BB-069 nothing in a URI makes it slow', async t => {
  const rows: [string, (n: number) => string][] = [
    ['x:{/id*}', n => 'x:' + '/a,'.repeat(n) + '//'],
    ['x:{a}{b}{c}{d}', n => 'x:' + 'a'.repeat(n) + '/'],
    ['x:{+a}{+b}{+c}z', n => 'x:' + 'a/'.repeat(n)],
    ['x:{+a}/{+b}/{+c}/z', n => 'x:' + '/'.repeat(n) + '/zz'],
    ['x:q{?tags*}', n => 'x:q?' + 'tags=a&'.repeat(n)],
    ['x:{a}-{b}-{c}-{d}', n => 'x:' + '-'.repeat(n) + '/'],
    ['x:{a}', n => 'x:' + '%41'.repeat(n) + '%']
  ]
  for (const [template, make] of rows) {
    const { match } = uriTemplate(template)
    match(make(100))
    const start = performance.now()
    match(make(20_000))
    t.ok(performance.now() - start < 500, `${template}: ${performance.now() - start} ms`)
  }
})
