// What the authorization server keeps, a shelf for each kind of thing.
import type { Adapter, AdapterPayload } from 'oidc-provider'

export class Shelves {
  private readonly things = new Map<string, AdapterPayload>()

  put (name: string, id: string, thing: AdapterPayload) { this.things.set(`${name} ${id}`, thing) }
  get (name: string, id: string) { return this.things.get(`${name} ${id}`) }
  drop (name: string, id: string) { this.things.delete(`${name} ${id}`) }
  clear (name: string) { for (const key of this.things.keys()) if (key.startsWith(`${name} `)) this.things.delete(key) }
  find (name: string, match: (thing: AdapterPayload) => boolean) { return [...this.things].find(([key, thing]) => key.startsWith(`${name} `) && match(thing))?.[1] }
  without (match: (thing: AdapterPayload) => boolean) { for (const [key, thing] of this.things) if (match(thing)) this.things.delete(key) }
}

export class Shelf implements Adapter {
  private readonly shelves: Shelves
  private readonly name: string

  constructor (shelves: Shelves, name: string) {
    this.shelves = shelves
    this.name = name
  }

  async upsert (id: string, thing: AdapterPayload) { this.shelves.put(this.name, id, thing) }
  async find (id: string) { return this.shelves.get(this.name, id) }
  async findByUid (uid: string) { return this.shelves.find(this.name, thing => thing.uid === uid) }
  async findByUserCode () { return undefined }
  async destroy (id: string) { this.shelves.drop(this.name, id) }
  async revokeByGrantId (grantId: string) { this.shelves.without(thing => thing.grantId === grantId) }
  async consume (id: string) {
    const thing = this.shelves.get(this.name, id)
    if (thing !== undefined) thing.consumed = Math.floor(Date.now() / 1000)
  }
}
