// A user with a browser: follows redirects, keeps cookies, fills in forms.

export class Browser {
  /** Who sits in front of it. */
  user: string
  /** What was said of pages, without the markup. */
  readonly read: string[] = []
  private readonly cookies = new Map<string, { name: string, path: string, value: string }>()

  constructor (user: string) { this.user = user }

  /** Goes on until it is sent to `home`. */
  async visit (url: URL, home: string): Promise<URL> {
    let next: { url: URL, form?: URLSearchParams } = { url }
    for (let hops = 0; hops < 20; hops++) {
      if (next.url.href.startsWith(home)) return next.url
      next = await this.open(next.url, next.form)
    }
    throw new Error(`it goes round in circles at ${next.url.href}`)
  }

  private async open (url: URL, form?: URLSearchParams): Promise<{ url: URL, form?: URLSearchParams }> {
    const response = await fetch(url, { redirect: 'manual', headers: { cookie: this.cookiesFor(url) }, ...(form && { method: 'POST', body: form }) })
    for (const cookie of response.headers.getSetCookie()) this.keep(cookie)
    const page = await response.text()
    const location = response.headers.get('location')
    if (response.status >= 300 && response.status < 400 && location !== null) return { url: new URL(location, url) }
    const action = /<form method="post" action="([^"]+)"/.exec(page)?.[1]
    if (response.status !== 200 || action === undefined) throw new Error(`${response.status} ${page.replace(/<style>[^]*?<\/style>|<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim()}`)
    this.read.push(page.replace(/<[^>]*>/g, ''))
    return { url: new URL(action, url), form: this.filled(page) }
  }

  private filled (page: string): URLSearchParams {
    const inputs = [...page.matchAll(/<input name="([^"]+)"(?: value="([^"]*)")?/g)]
    return new URLSearchParams(inputs.map(([, name = '', value = '']): [string, string] => [name, name === 'login' ? this.user : value]))
  }

  private cookiesFor ({ pathname }: URL): string {
    return [...this.cookies.values()].filter(({ path }) => pathname.startsWith(path)).map(({ name, value }) => `${name}=${value}`).join('; ')
  }

  private keep (cookie: string): void {
    const [pair = '', ...attributes] = cookie.split(/; */)
    const of = (name: string) => attributes.find(one => one.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1)
    const [name = '', value = ''] = pair.split(/=(.*)/)
    const path = of('path') ?? '/'
    if (Date.parse(of('expires') ?? '') < Date.now()) this.cookies.delete(`${path} ${name}`)
    else this.cookies.set(`${path} ${name}`, { name, path, value })
  }
}
