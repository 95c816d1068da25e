// The official clients with somebody behind them who answers: two generations, over HTTP and stdio, behind one face.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import type { ClientOptions } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Test } from 'tap'
import { Recorder } from './record.js'

/** What is said to a question, by its method; what throws is answered with an error. */
export type Somebody = (method: string, params: any) => any

export interface Asker {
  /** Whether questions are results of the call. */
  rounds: boolean
  call (name: string, args?: Record<string, unknown>): Promise<{ content: any[], isError?: boolean, structuredContent?: unknown }>
}

/** A server as the clients find it. */
export interface Served { url: string, command: { command: string, args: string[], env: Record<string, string>, stderr: 'ignore' } }

const identity = { name: 'test client', version: '1.0.0' }
const methods = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const

async function v1 (t: Test, { url, command }: Served, over: 'http' | 'stdio', capabilities: any, answer: Somebody): Promise<Asker> {
  const client = new ClientV1(identity, { capabilities })
  const schemas = [ElicitRequestSchema, CreateMessageRequestSchema, ListRootsRequestSchema]
  for (const [i, method] of methods.entries()) {
    if (capabilities[method.split('/')[0] as string] === undefined) continue
    client.setRequestHandler(schemas[i] as any, ({ params }: any) => answer(method, params))
  }
  await client.connect((over === 'http' ? new HttpV1(new URL(url), { fetch: new Recorder(t, '2025-11-25').fetch }) : new StdioV1(command)) as any)
  t.teardown(() => client.close())
  return { rounds: false, call: async (name, args) => await client.callTool({ name, ...(args && { arguments: args }) }) as any }
}

async function v2 (t: Test, { url, command }: Served, over: 'http' | 'stdio', capabilities: any, answer: Somebody, mode: NonNullable<ClientOptions['versionNegotiation']>): Promise<Asker> {
  const client = new ClientV2(identity, { capabilities, versionNegotiation: mode })
  for (const method of methods) {
    if (capabilities[method.split('/')[0] as string] !== undefined) client.setRequestHandler(method as 'roots/list', ({ params }: any) => answer(method, params))
  }
  const legacy = mode.mode === 'legacy'
  await client.connect(over === 'http' ? new HttpV2(new URL(url), { fetch: new Recorder(t, legacy ? '2025-11-25' : '2026-07-28').fetch }) : new StdioV2(command))
  t.teardown(() => client.close())
  return { rounds: client.getProtocolEra() === 'modern', call: async (name, args) => await client.callTool({ name, ...(args && { arguments: args }) }) as any }
}

/** Each make of client, each way to speak. */
export const makes: Array<[string, (t: Test, served: Served, capabilities: object, answer: Somebody) => Promise<Asker>]> = []
for (const over of ['http', 'stdio'] as const) {
  makes.push(
    [`SDK v1 over ${over}`, (t, served, capabilities, answer) => v1(t, served, over, capabilities, answer)],
    [`SDK v2 as a client of the handshake revisions over ${over}`, (t, served, capabilities, answer) => v2(t, served, over, capabilities, answer, { mode: 'legacy' })],
    [`SDK v2 left to find out over ${over}`, (t, served, capabilities, answer) => v2(t, served, over, capabilities, answer, { mode: 'auto' })],
    [`SDK v2 pinned to 2026-07-28 over ${over}`, (t, served, capabilities, answer) => v2(t, served, over, capabilities, answer, { mode: { pin: '2026-07-28' } })]
  )
}

/** A program that serves HTTP, or stdio where STDIO is 1. */
export async function start (t: Test, file: string): Promise<Served> {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
  const env = { PATH: process.env.PATH ?? '' }
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(async () => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { url: JSON.parse(line).url, command: { command: process.execPath, args: [path], env: { ...env, STDIO: '1' }, stderr: 'ignore' } }
}

export const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }
export const said = (text: string) => ({ role: 'assistant', content: { type: 'text', text }, model: 'm', stopReason: 'endTurn' })
export const textOf = ({ content }: { content: any[] }) => content.map(block => block.text).join('')

const choices = { untitledSingle: 'option2', titledSingle: 'value1', legacyEnum: 'option3', untitledMulti: ['option1', 'option3'], titledMulti: ['value2'] }
/** What is filled in, by the name of the field. */
export const fields = { name: 'Ada', first: 'one', second: 'two', username: 'ada', email: 'ada@example.com', color: 'red', ok: true, confirm: true, ...choices }

/** Somebody who fills in a form by the names of its fields, and has an answer to everything; `now` is what is said instead. */
export class Person {
  asked: Array<{ method: string, params: any }> = []
  fields: Record<string, unknown> = fields
  now: (() => unknown) | undefined

  readonly answer: Somebody = (method, params) => {
    this.asked.push({ method, params })
    if (this.now !== undefined) return this.now()
    if (method === 'roots/list') return { roots: [{ uri: 'file:///home/ada', name: 'Home' }, { uri: 'file:///srv' }] }
    if (method === 'sampling/createMessage') return said(`You said: ${params.messages.at(-1).content.text}`)
    if (params.mode === 'url') return { action: 'accept' }
    const names = Object.keys(params.requestedSchema.properties)
    return { action: 'accept', content: Object.fromEntries(names.filter(name => name in this.fields).map(name => [name, this.fields[name]])) }
  }
}
