/** What the same would cost without the protocol: one route whose schemas check all of the message, arguments included, and write the answer. */
export default function serve (app, { body, response, answer }) {
  const listed = response === undefined ? answer() : undefined
  app.post('/mcp', { schema: { body, ...response && { response: { 200: response } } } }, async ({ body: { id, params } }) => {
    return { jsonrpc: '2.0', id, result: listed ?? answer(params) }
  })
}
