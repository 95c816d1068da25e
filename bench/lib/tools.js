import { Type } from '@sinclair/typebox'

// What is served: one tool to call and 101 more to list.

export const greet = {
  name: 'greet',
  description: 'Greets somebody',
  inputSchema: Type.Object({ name: Type.String({ minLength: 1, description: 'Whom to greet' }) }),
  handler: ({ name }) => `Hello, ${name}! It is good to see you here.`
}

const search = (_, i) => ({
  name: `search_${i}`,
  title: `Search in collection ${i}`,
  description: `Looks up records in collection ${i} and returns a summary of those that fit`,
  inputSchema: Type.Object({
    query: Type.String({ minLength: 1, maxLength: 256, description: 'Free text' }),
    limit: Type.Integer({ minimum: 1, maximum: 100, description: 'How many records at most' }),
    order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')], { description: 'Order of the records' })),
    exact: Type.Optional(Type.Boolean({ description: 'Whether every word has to be found' })),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 10, description: 'Tags the records must have' }))
  }),
  handler: () => 'nothing found'
})

export const tools = [greet, ...Array.from({ length: 101 }, search)]
