// A load balancer that sends each request to the next server, whoever its client is. Real ones do more; none has to do less.
import http from 'node:http'

/** @param targets `host:port` of each server; it may change at any time */
export function roundRobin (targets) {
  let next = 0

  /** @param tries how many servers may still be asked: one that takes no connection has not had the request */
  function forward (request, response, tries) {
    const [host, port] = targets[next++ % targets.length].split(':')
    const { method, url: path, headers } = request
    const onward = http.request({ host, port, method, path, agent: false, headers: { ...headers, 'x-forwarded-for': request.socket.remoteAddress } }, answer => {
      response.writeHead(answer.statusCode, answer.headers)
      response.flushHeaders() // of a stream nothing may follow for long
      answer.on('error', () => response.destroy()).pipe(response)
    })
    onward.on('socket', socket => { socket.once('connect', () => request.pipe(onward)) })
    onward.on('error', error => {
      if (error.code === 'ECONNREFUSED' && tries > 1) forward(request, response, tries - 1)
      else if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    })
    response.on('close', () => onward.destroy())
  }

  return http.createServer((request, response) => forward(request, response, targets.length))
}
