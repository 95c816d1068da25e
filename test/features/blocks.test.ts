import t from 'tap'
import { audio, embedded, image, resourceLink, text } from '../../lib/content.js'
import { blockProblem, blocksProblem, heldProblem } from '../../lib/features/blocks.js'

t.test('what the helpers make is what clients read', async t => {
  const extra = { annotations: { audience: ['user' as const], priority: 1 }, _meta: { a: 1 } }
  const good = [
    text('a'), text(''), text('a', extra),
    image(Buffer.from('a'), 'image/png'), image('', 'image/png', extra), image('YWE=', 'image/png'), image('YQ==', 'image/png'), image('+/+/', 'image/png'),
    audio(new Uint8Array(5), 'audio/wav', extra),
    resourceLink({ uri: 'a:b', name: 'a' }), resourceLink({ uri: 'a:b', name: 'a', title: 't', size: 1, icons: [{ src: 'a:b' }] }),
    embedded({ uri: 'a:b', text: '' }), embedded({ uri: 'a:b', blob: Buffer.from('ab'), mimeType: 'a/b' }, extra)
  ]
  for (const block of good) t.equal(blockProblem(block), undefined, JSON.stringify(block))
  t.equal(blocksProblem(good), undefined)
  t.equal(blocksProblem([]), undefined)
})

t.test('what they do not read is named with its place', async t => {
  const image = { type: 'image', mimeType: 'image/png' }
  const link = { type: 'resource_link', uri: 'a:b', name: 'a' }
  const rows: [unknown, RegExp][] = [
    ['text', /^ must be an object, got a value of type string/],
    [null, /^ must be an object, got null/],
    [['a'], /^ must be an object, got an array/],
    [{}, /^\.type must be one of text, image, audio, resource_link, resource, got undefined/],
    [{ type: 'img', data: '' }, /^\.type must be one of .*, got "img"/],
    [{ type: 'text' }, /^\.text must be a string, got nothing/],
    [{ type: 'text', text: 5 }, /^\.text must be a string, got a value of type number/],
    [{ type: 'text', text: 'a', annotations: { priority: 5 } }, /^\.annotations\.priority must be <= 1/],
    [{ type: 'text', text: 'a', _meta: 5 }, /^\._meta must be object/],
    [image, /^\.data must be base64, got nothing/],
    [{ ...image, data: Buffer.from('a') }, /^\.data must be base64, got bytes/],
    [{ type: 'audio', data: 'YQ==' }, /^\.mimeType is required/],
    [{ type: 'image', data: 'YQ==', mimeType: 5 }, /^\.mimeType must be string/],
    [{ ...link, name: undefined }, /^\.name must be a string, got nothing/],
    [{ ...link, uri: 5 }, /^\.uri must be a string/],
    [{ ...link, size: '5' }, /^\.size must be integer/],
    [{ ...link, icons: 'x' }, /^\.icons must be array/],
    [{ type: 'resource' }, /^\.resource must be an object, got nothing/],
    [{ type: 'resource', resource: { uri: 'a:b' } }, /^\.resource must have one of text and blob/],
    [{ type: 'resource', resource: { uri: 'a:b', text: 'a', blob: '' } }, /^\.resource must have one of/],
    [{ type: 'resource', resource: { text: 'a' } }, /^\.resource\.uri must be a string/],
    [{ type: 'resource', resource: { uri: 'a:b', text: 5 } }, /^\.resource\.text must be a string/],
    [{ type: 'resource', resource: { uri: 'a:b', blob: '!' } }, /^\.resource\.blob must be base64/],
    [{ type: 'resource', resource: { uri: 'a:b', text: 'a', mimeType: 5 } }, /mimeType must be string/]
  ]
  for (const [block, message] of rows) {
    t.match(blockProblem(block), message, JSON.stringify(block))
    t.match(blocksProblem([text('a'), block]), /^content\[1\]/)
  }
})

t.test('base64 is that of RFC 4648 section 4, whole', async t => {
  const blob = (blob: unknown) => heldProblem({ uri: 'a:b', blob })
  for (const good of ['', 'YQ==', 'YWI=', 'YWJj', '+/+/'.repeat(1_000_000)]) t.equal(blob(good), undefined, good.slice(0, 8))
  for (const bad of ['YQ', 'YQ=', 'YWJj\n', 'data:image/png;base64,YWJj', '-_-_', 'Y=Jj', 'Y===', '====', 'YW Jj', 'é'.repeat(4)]) t.match(blob(bad), /\.blob must be base64 \(RFC 4648 section 4\), got "/, bad)
  t.match(blob('!'.repeat(100)), /"!{40}"…$/, 'a long one is cut')
})
