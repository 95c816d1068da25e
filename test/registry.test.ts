import t from 'tap'
import { Registry } from '../lib/registry.js'

function build () {
  const told = { times: 0 }
  return { registry: new Registry<string>(() => { told.times++ }), told }
}

t.test('items are seen in the order they were added', async t => {
  const { registry } = build()
  for (const name of ['b', 'a', 'c']) registry.add(name, name.toUpperCase())
  t.strictSame(registry.visible(), ['B', 'A', 'C'])
})

t.test('a hidden item keeps its name and its place but is not there', async t => {
  const { registry } = build()
  for (const name of ['a', 'b']) registry.add(name, name)
  t.equal(registry.enable('a', false), true)
  t.strictSame(registry.visible(), ['b'])
  t.equal(registry.get('a'), undefined)
  t.equal(registry.peek('a'), 'a')
  t.equal(registry.has('a'), true)
  registry.enable('a', true)
  t.strictSame(registry.visible(), ['a', 'b'])
  t.equal(registry.get('a'), 'a')
})

t.test('what is not there is neither found, shown nor removed', async t => {
  const { registry, told } = build()
  t.equal(registry.has('x'), false)
  t.equal(registry.get('x'), undefined)
  t.equal(registry.peek('x'), undefined)
  t.equal(registry.enable('x', true), false)
  t.equal(registry.remove('x'), false)
  t.equal(told.times, 0)
})

t.test('names of Object.prototype are names like others', async t => {
  const { registry } = build()
  for (const name of ['constructor', '__proto__', 'toString']) {
    t.equal(registry.has(name), false)
    registry.add(name, name)
    t.equal(registry.get(name), name)
  }
})

t.test('a removed item is gone, and its name is free', async t => {
  const { registry } = build()
  registry.add('a', 'first')
  t.equal(registry.remove('a'), true)
  t.strictSame(registry.visible(), [])
  t.equal(registry.has('a'), false)
  registry.add('a', 'second')
  t.equal(registry.get('a'), 'second')
})

t.test('the list is the same array as long as nothing that can be seen changes', async t => {
  const { registry } = build()
  registry.add('a', 'a')
  const before = registry.visible()
  registry.enable('a', true)
  t.equal(registry.visible(), before)
  registry.add('b', 'b')
  t.not(registry.visible(), before)
})

t.test('a change is told exactly when something that can be seen changes', async t => {
  const { registry, told } = build()
  const steps: [string, () => void, number][] = [
    ['adding', () => registry.add('a', 'a'), 1],
    ['showing what is shown', () => { registry.enable('a', true) }, 0],
    ['hiding', () => { registry.enable('a', false) }, 1],
    ['hiding what is hidden', () => { registry.enable('a', false) }, 0],
    ['removing what is hidden', () => { registry.remove('a') }, 0],
    ['adding again', () => registry.add('a', 'a'), 1],
    ['removing what is shown', () => { registry.remove('a') }, 1]
  ]
  for (const [what, step, times] of steps) {
    const before = told.times
    step()
    t.equal(told.times - before, times, what)
  }
})
