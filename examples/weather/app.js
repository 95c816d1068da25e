import { Type } from '@sinclair/typebox'
import mcpPlugin, { defineTool, ToolError } from 'fastify-mcp-plugin'
import { closeMatches, findCity } from './climate.js'

const getWeather = defineTool({
  name: 'get_weather',
  title: 'Weather',
  description: 'Typical weather of a large city in the current month. Read-only. Returns °C and mm of rain.',
  inputSchema: Type.Object({
    city: Type.String({ description: 'City name, e.g. Beijing', minLength: 1, maxLength: 100 })
  }),
  outputSchema: Type.Object({
    city: Type.String(),
    country: Type.String(),
    month: Type.String(),
    celsius: Type.Number({ description: 'Mean temperature of the month' }),
    rain: Type.Number({ description: 'Millimetres of rain in the whole month' })
  }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  handler: ({ city: name }, ctx) => {
    const city = findCity(name)
    if (!city) {
      ctx.log.info({ city: name }, 'unknown city')
      const near = closeMatches(name)
      throw new ToolError(`No city called "${name}".${near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''}`)
    }
    const now = new Date()
    const month = now.getMonth()
    return {
      city: city.name,
      country: city.country,
      month: now.toLocaleString('en', { month: 'long' }),
      celsius: city.celsius[month],
      rain: city.rain[month]
    }
  }
})

const greet = defineTool({
  name: 'greet',
  description: 'Greets somebody by name.',
  inputSchema: Type.Object({ name: Type.String({ minLength: 1 }) }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  handler: ({ name }) => `Hello, ${name}!`
})

const sum = defineTool({
  name: 'sum',
  description: 'Adds numbers.',
  inputSchema: Type.Object({ numbers: Type.Array(Type.Number(), { minItems: 1 }) }),
  outputSchema: Type.Object({ sum: Type.Number() }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  handler: ({ numbers }) => ({ sum: numbers.reduce((total, number) => total + number, 0) })
})

export default async function weather (app, opts) {
  await app.register(mcpPlugin, {
    serverInfo: { name: 'weather', title: 'Weather', version: '1.0.0' },
    tools: [getWeather, greet, sum]
  })
}
