#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { createWriteStream, existsSync, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { endpointsOf } from './endpoints.js'

const USAGE = `fastify-mcp stdio <app file> [--path /mcp]

Serves a Fastify app that registers fastify-mcp-plugin on standard input and output.
The file exports by default a Fastify plugin (app, options), a Fastify instance, or a function without parameters that makes one.
--path chooses the endpoint where the app has several.
`
const OUTPUT = 3
const CHILD = 'FASTIFY_MCP_OUTPUT'

function fail (message: string): never {
  process.stderr.write(message.endsWith('\n') ? message : `fastify-mcp: ${message}\n`)
  process.exit(1)
}

/**
 * Runs this file again with standard output led to standard error, and the real one as another descriptor for messages alone:
 * whatever the app, its logger or a native module writes to standard output then cannot be taken for a message.
 * What the app needs is loaded by that other process alone.
 */
function shield (args: string[]): void {
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), ...args], {
    stdio: ['inherit', 2, 2, 1],
    env: { ...process.env, [CHILD]: String(OUTPUT) }
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  child.on('error', error => fail(error.message))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
}

async function load (file: string): Promise<FastifyInstance> {
  const url = pathToFileURL(resolve(file)).href
  const module = await import(url)
  const main = module.default?.default ?? module.default ?? module.app ?? module.build
  if (typeof main === 'object' && main !== null && 'ready' in main) return main as FastifyInstance
  if (typeof main !== 'function') fail(`${file} must export by default a Fastify plugin, a Fastify instance, or a function that makes one`)
  if (main.length === 0) return await main() as FastifyInstance
  const [{ default: Fastify }, { default: fp }] = await Promise.all([import('fastify'), import('fastify-plugin')])
  const app = Fastify({ logger: { level: process.env.LOG_LEVEL ?? 'info' } })
  await app.register(fp(main))
  return app
}

function output (fd: number): Writable {
  const stat = fstatSync(fd)
  return stat.isFIFO() || stat.isSocket() ? new Socket({ fd, readable: false, writable: true }) : createWriteStream('', { fd })
}

async function serve (file: string, path: string | undefined): Promise<void> {
  const app = await load(file)
  await app.ready()
  const endpoints = endpointsOf(app)
  const names = [...endpoints.keys()]
  if (names.length === 0) fail(`${file} does not register fastify-mcp-plugin`)
  if (path === undefined && names.length > 1) fail(`${file} has several endpoints; choose one with --path: ${names.join(', ')}`)
  const mcp = endpoints.get(path ?? names[0] as string)
  if (mcp === undefined) fail(`${file} has no endpoint ${path}; it has ${names.join(', ')}`)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, async () => { await app.close(); process.exit(0) })
  await mcp.stdio({ output: output(OUTPUT) })
  process.exit(0)
}

function read (args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: { path: { type: 'string' }, help: { type: 'boolean', short: 'h' } } })
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${USAGE}`)
  }
}

const args = process.argv.slice(2)
const { values, positionals: [command, file, ...more] } = read(args)
if (values.help === true) process.stdout.write(USAGE)
else if (command !== 'stdio' || file === undefined || more.length > 0) fail(USAGE)
else if (!existsSync(file)) fail(`there is no file ${file}`)
else if (process.env[CHILD] === undefined) shield(args)
else serve(file, values.path).catch((error: unknown) => fail((error as Error).stack ?? String(error)))
