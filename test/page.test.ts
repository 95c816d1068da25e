import fc from 'fast-check'
import t from 'tap'
import { Pages } from '../lib/page.js'
import { thrown } from './support/thrown.js'

interface Page { items: string[], nextCursor: string | undefined }

const pagesOf = (names: string[], size: number, kind = 'tools') =>
  new Pages<Page>(kind, names, size, (from, to, nextCursor) => ({ items: names.slice(from, to), nextCursor }))

/** All pages, following the cursors. */
function walk (pages: Pages<Page>, most = 1000): Page[] {
  const walked = [pages.at(undefined)]
  while (walked.length < most) {
    const { nextCursor } = walked.at(-1) as Page
    if (nextCursor === undefined) break
    walked.push(pages.at(nextCursor))
  }
  return walked
}

const cursorsOf = (pages: Pages<Page>) => walk(pages).map(page => page.nextCursor).filter(cursor => cursor !== undefined)
const names = fc.uniqueArray(fc.string(), { maxLength: 40 })
const size = fc.integer({ min: 1, max: 45 })

t.test('a walk gives each item once, in order, and no page is longer than the size', async t => {
  fc.assert(fc.property(names, size, (names, size) => {
    const walked = walk(pagesOf(names, size))
    const inOrder = JSON.stringify(walked.flatMap(page => page.items)) === JSON.stringify(names)
    return inOrder && walked.every(page => page.items.length <= size) && walked.length === Math.max(1, Math.ceil(names.length / size))
  }))
  t.pass('no counterexample')
})

t.test('an empty list has one empty page', async t => t.strictSame(walk(pagesOf([], 10)), [{ items: [], nextCursor: undefined }]))

t.test('a list of just one page has no cursor', async t => t.strictSame(cursorsOf(pagesOf(['a', 'b'], 2)), []))

t.test('null means the first page, as nothing does', async t => {
  const pages = pagesOf(['a', 'b'], 1)
  t.equal(pages.at(null), pages.at(undefined))
})

t.test('the same page is the same object each time', async t => {
  const pages = pagesOf(['a', 'b'], 1)
  const [cursor] = cursorsOf(pages)
  t.equal(pages.at(cursor), pages.at(cursor))
})

t.test('a string that is no cursor is refused with -32602', async t => {
  const pages = pagesOf(['a', 'b', 'c'], 1)
  const known = cursorsOf(pages)
  const [cursor] = known as [string]
  const near = fc.constantFrom(cursor + '=', cursor.slice(0, -1), ` ${cursor}`, cursor.toUpperCase(), '', '0', '1')
  fc.assert(fc.property(fc.oneof(fc.string(), fc.base64String(), near).filter(text => !known.includes(text)), text => thrown(() => pages.at(text)).code === -32602))
  t.match(thrown(() => pages.at('nope')).message, /cursor.*start again/)
})

t.test('a cursor belongs to one list in one state', async t => {
  const [cursor] = cursorsOf(pagesOf(['a', 'b', 'c'], 1))
  const others: [string, Pages<Page>][] = [
    ['a list of another kind', pagesOf(['a', 'b', 'c'], 1, 'prompts')],
    ['with one more', pagesOf(['a', 'b', 'c', 'd'], 1)],
    ['with one less', pagesOf(['a', 'b'], 1)],
    ['in another order', pagesOf(['b', 'a', 'c'], 1)]
  ]
  for (const [what, pages] of others) t.equal(thrown(() => pages.at(cursor)).code, -32602, what)
  t.strictSame(pagesOf(['a', 'b', 'c'], 1).at(cursor).items, ['b'], 'the same list made again takes it')
})

t.test('a cursor can stand in a URL and a header', async t => {
  for (const cursor of cursorsOf(pagesOf(['ä', 'ö/?', 'ü&'], 1))) t.match(cursor, /^[\w-]+$/)
})
