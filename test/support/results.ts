// Results with everything the newest revision has words for; what an older one makes of them is its own matter.
const icons = [{ src: 'https://a.example/i.png', sizes: ['48x48'] }]
const annotations = { audience: ['user'], priority: 1, lastModified: '2025-01-12T15:00:58Z' }
const _meta = { 'com.example/a': 1 }
const blob = Buffer.from('x').toString('base64')

export const identity = '{"name":"unit","version":"1"}'
export const schema = { type: 'object', properties: { a: { type: 'string' } } }

export const tool = {
  name: 'echo', title: 'Echo', description: 'Says it back.', inputSchema: schema, outputSchema: schema, annotations: { readOnlyHint: true }, icons, _meta
}

export const list = { tools: [tool], nextCursor: 'c', ttlMs: 60_000, cacheScope: 'public' }

export const blocks = {
  text: { type: 'text', text: 'a', annotations, _meta },
  image: { type: 'image', data: blob, mimeType: 'image/png', annotations, _meta },
  audio: { type: 'audio', data: blob, mimeType: 'audio/wav', annotations, _meta },
  resource: { type: 'resource', resource: { uri: 'mem://a', text: 'x' }, annotations, _meta },
  link: { type: 'resource_link', uri: 'mem://a', name: 'a', title: 'A', description: 'd', mimeType: 'text/plain', size: 1, annotations, _meta, icons }
}

export const call = { content: Object.values(blocks), structuredContent: { n: 1 }, isError: false, _meta }

export const resource = { uri: 'mem://a', name: 'a', title: 'A', description: 'd', mimeType: 'text/plain', size: 1, annotations, icons, _meta }
export const template = { uriTemplate: 'mem://{a}', name: 'a', title: 'A', description: 'd', mimeType: 'text/plain', annotations, icons, _meta }
export const contents = [{ uri: 'mem://a', mimeType: 'text/plain', text: 'x', _meta }, { uri: 'mem://b', blob, _meta }]
export const argument = { name: 'code', title: 'Code', description: 'd', required: true }
export const prompt = { name: 'review', title: 'Review', description: 'd', arguments: [argument], icons, _meta }
const cached = { ttlMs: 60_000, cacheScope: 'public' }

/** What the features of resources and prompts answer with, by method. */
export const others: Record<string, Record<string, unknown>> = {
  'resources/list': { resources: [resource], nextCursor: 'c', ...cached },
  'resources/templates/list': { resourceTemplates: [template], ...cached },
  'resources/read': { contents, ...cached },
  'prompts/list': { prompts: [prompt], ...cached },
  'prompts/get': { description: 'd', messages: Object.values(blocks).map(content => ({ role: 'user', content })) }
}

export const introduction = {
  protocolVersion: 'of the revision',
  capabilities: { experimental: {}, logging: {}, completions: {}, prompts: {}, resources: {}, tools: { listChanged: true }, extensions: {} },
  serverInfo: { name: 'unit', version: '1', title: 'Unit', description: 'd', icons, websiteUrl: 'https://a.example' },
  instructions: 'how'
}

/** Some members of an object. */
export const only = (from: Record<string, unknown>, ...names: string[]) => Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)))
/** All members but some. */
export const but = (from: Record<string, unknown>, ...names: string[]) => Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)))

/** An object in which some member is cut down to some of its own. */
export const cutDown = (from: Record<string, any>, member: string, ...names: string[]) => ({ ...from, [member]: only(from[member], ...names) })
