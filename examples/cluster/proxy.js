// A load balancer that sends each request to the next server, whoever its client is. Real ones do more; none has to do less.
import http from 'node:http'

/** @param targets `host:port` of each server; it may change at any time */
export function roundRobin (targets) {
  let next = 0
  const server = http.createServer((request, response) => {
    const target = targets[next++ % targets.length]
    const { method, url: path, headers } = request
    const [host, port] = target.split(':')
    const onward = http.request({ host, port, method, path, headers: { ...headers, 'x-forwarded-for': request.socket.remoteAddress } }, answer => {
      response.writeHead(answer.statusCode, answer.headers)
      response.flushHeaders() // of a stream nothing may follow for long
      answer.on('error', () => response.destroy()).pipe(response)
    })
    onward.on('error', () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    })
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  return server
}
