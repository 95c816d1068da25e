import t from 'tap'
import { hostsOf, originsOf } from '../lib/allowed.js'
import { thrown } from './support/thrown.js'

t.test('hosts are brought into the form that browsers send', async t => {
  t.strictSame(hostsOf(undefined), [])
  t.strictSame(hostsOf([]), [])
  t.equal(hostsOf('*'), '*')
  t.strictSame(
    hostsOf(['app.example', 'App.EXAMPLE', 'app.example:8080', 'app.example:80', 'app.example:443', 'my_host', '127.0.0.1:3000', '[::1]', '[2001:DB8:0::1]:3000', 'münchen.example']),
    ['app.example', 'app.example', 'app.example:8080', 'app.example:80', 'app.example:443', 'my_host', '127.0.0.1:3000', '[::1]', '[2001:db8::1]:3000', 'xn--mnchen-3ya.example'])
})

t.test('origins too, without the port of their scheme', async t => {
  t.strictSame(originsOf(undefined), [])
  t.equal(originsOf('*'), '*')
  t.strictSame(
    originsOf(['https://app.example', 'HTTPS://App.Example', 'https://app.example:443', 'http://app.example:80', 'http://app.example:443', 'http://localhost:5173', 'null', 'chrome-extension://abc', 'file://']),
    ['https://app.example', 'https://app.example', 'https://app.example', 'http://app.example', 'http://app.example:443', 'http://localhost:5173', 'null', 'chrome-extension://abc', 'file://'])
})

t.test('what would never match is refused, with the value and the right form', async t => {
  for (const host of ['https://app.example', 'app.example/', 'app.example/mcp', '::1', 'app.example:', 'app.example:port', 'a b', 'user@app.example', '*', '*.example', 'app.example:99999', '[zz]']) {
    t.match(thrown(() => hostsOf(['app.example', host])), { code: 'MCP_ERR_OPTION', message: RegExp(`option /hosts/1 must be a host name.*"mcp\\.example\\.com".*got "${host.replace(/[*.[\]]/g, '\\$&')}"`) }, host)
  }
  for (const origin of ['app.example', 'https://app.example/', 'https://app.example/mcp', 'https://', 'https:app.example', 'https://*.example', 'https://user@app.example', 'https://app.example?a', '*', 'NULL', 'https://a b', 'https://app.example:99999']) {
    t.match(thrown(() => originsOf([origin])), { code: 'MCP_ERR_OPTION', message: RegExp(`option /origins/0 must be an origin.*"https://app\\.example", got "${origin.replace(/[*.?]/g, '\\$&')}"`) }, origin)
  }
  t.match(thrown(() => hostsOf(['*'])).message, /hosts: '\*' lets all in/)
  t.match(thrown(() => originsOf(['https://*.example'])).message, /origins: '\*' lets all in, and there are no patterns/)
})
