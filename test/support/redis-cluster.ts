// A Redis Cluster for one test file: masters that have a part of the keys each, and a replica for each of them.
import { Cluster, Redis } from 'ioredis'
import type { Test } from 'tap'
import { freePort, RedisServer } from './redis.js'
import { wait } from './time.js'

const MASTERS = 3
const SLOTS = 16_384
/** How long a node may say nothing before another takes its place, in ms. */
const NODE_TIMEOUT = 1_000

interface Node { server: RedisServer, admin: Redis, bus: number, id: string }

export class RedisCluster {
  private readonly nodes: Node[]
  private constructor (nodes: Node[]) { this.nodes = nodes }

  static async start (t: Test): Promise<RedisCluster> {
    const folder = t.testdir({})
    const nodes = await Promise.all(Array.from({ length: 2 * MASTERS }, () => nodeOf(t, folder)))
    const [first] = nodes as [Node]
    for (const [i, { admin }] of nodes.slice(0, MASTERS).entries()) {
      const [from, to] = [i, i + 1].map(n => Math.ceil(SLOTS * n / MASTERS)) as [number, number]
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', from, to - 1)
    }
    for (const { server, bus } of nodes.slice(1)) await first.admin.call('CLUSTER', 'MEET', '127.0.0.1', server.port, bus)
    await all(nodes, info => info.includes(`cluster_known_nodes:${nodes.length}`))
    await Promise.all(nodes.slice(MASTERS).map(({ admin }, i) => replicate(admin, (nodes[i] as Node).id)))
    await all(nodes, info => info.includes('cluster_state:ok'))
    const cluster = new RedisCluster(nodes)
    await eventually(async () => (await Promise.all(nodes.slice(MASTERS).map(({ admin }) => admin.info('replication')))).every(info => info.includes('master_link_status:up')))
    return cluster
  }

  /** A client that the test closes. */
  client (t: Test): Cluster {
    const client = new Cluster(this.nodes.map(({ server }) => ({ host: '127.0.0.1', port: server.port })), { clusterRetryStrategy: () => 100 })
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    return client
  }

  /** Ends the master that has the key; resolves when a replica has taken its place. */
  async killMasterOf (key: string): Promise<void> {
    const slot = await this.alive.admin.cluster('KEYSLOT', key)
    const port = (await this.masters()).find(one => one.from <= slot && slot <= one.to)?.port
    const node = this.nodes.find(({ server }) => server.port === port) as Node
    this.nodes.splice(this.nodes.indexOf(node), 1)
    await node.server.kill()
    await eventually(async () => (await this.masters()).some(one => one.from <= slot && slot <= one.to && one.port !== port))
  }

  private get alive (): Node { return this.nodes.at(-1) as Node }

  private async masters (): Promise<{ from: number, to: number, port: number }[]> {
    const slots = await this.alive.admin.call('CLUSTER', 'SLOTS') as [number, number, [string, number]][]
    return slots.map(([from, to, [, port]]) => ({ from, to, port }))
  }
}

async function nodeOf (t: Test, folder: string): Promise<Node> {
  const server = new RedisServer(await freePort())
  const bus = await freePort()
  t.teardown(() => server.kill())
  await server.start('--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', String(NODE_TIMEOUT), '--repl-diskless-sync-delay', '0', '--dir', folder, '--cluster-config-file', `nodes-${server.port}.conf`)
  const admin = new Redis(server.port, '127.0.0.1', { retryStrategy: () => null })
  admin.on('error', () => {})
  t.teardown(() => admin.disconnect())
  return { server, admin, bus, id: String(await admin.call('CLUSTER', 'MYID')) }
}

const all = (nodes: Node[], what: (info: string) => boolean) => eventually(async () => (await Promise.all(nodes.map(({ admin }) => admin.cluster('INFO')))).every(info => what(String(info))))

/** A node that does not know its master yet says so. */
const replicate = (admin: Redis, master: string) => eventually(() => admin.call('CLUSTER', 'REPLICATE', master).then(() => true, () => false))

async function eventually (what: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !await what(); await wait(50)) if (Date.now() > end) throw new Error(`not in time: ${what}`)
}
