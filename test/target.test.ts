import t from 'tap'
import { hostOf, pathOf } from '../lib/target.js'

t.test('the host is that of the target where it names one, else that of the header', async t => {
  const rows: [string, string][] = [
    ['/mcp', 'header.example:1'],
    ['/mcp?to=http://evil.example/', 'header.example:1'],
    ['http://target.example/mcp', 'target.example'],
    ['HTTPS://target.example:8443?x=/', 'target.example:8443'],
    ['http://user@target.example/mcp', 'user@target.example'],
    ['http:///mcp', ''],
    ['*', 'header.example:1']
  ]
  for (const [url, host] of rows) t.equal(hostOf({ url, host: 'header.example:1' }), host, url)
})

t.test('the path is one whatever precedes it', async t => {
  const rows = [
    ['/mcp', '/mcp'], ['/mcp/?x=1', '/mcp/'], ['http://evil.example/mcp?x=/y', '/mcp'], ['http://evil.example', '/'], ['http://evil.example//other.example/mcp', '/other.example/mcp'],
    ['//evil.example/mcp', '/evil.example/mcp'], ['/\\evil.example/mcp', '/evil.example/mcp'], ['/http://a/mcp', '/http://a/mcp']
  ]
  for (const [url = '', path = ''] of rows) {
    t.equal(pathOf({ url }), path, url)
    t.equal(new URL(path, 'http://server.example').host, 'server.example', `${url}: as a client resolves it`)
  }
})
