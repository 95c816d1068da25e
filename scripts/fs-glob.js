// Preloaded (--import) into the conformance suite: it imports globSync from fs, which Node has from version 22 on,
// and uses it in a command that is not run here. Where it is missing, the suite is given an fs with a stand-in.
import fs from 'node:fs'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const completed = `data:text/javascript,${encodeURIComponent(`
export * from 'node:fs'
export { default } from 'node:fs'
export function globSync () { throw new Error('globSync needs Node 22') }
`)}`

// Node loads this file a second time, in the thread of its hooks.
if (isMainThread && !fs.globSync) register(import.meta.url)

export function resolve (specifier, context, next) {
  const wanted = specifier === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/dist/')
  return wanted ? { url: completed, shortCircuit: true } : next(specifier, context)
}
