import type { LogLimits, LogReading, Store } from '../../types/index.js'
import { script } from './commands.js'
import type { Commands } from './commands.js'

// A key is a string; a log is a stream, and a hash beside it with what a stream does not know. Both live in the slot of the name's hash tag.

const SWAP = script(`
local held = redis.call('GET', KEYS[1])
if ARGV[1] == '0' then
  if held then return 0 end
elseif held ~= ARGV[2] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1`)

/** Ids as text that can be compared: digits of time, then of what came in the same millisecond. */
const IDS = `
local function text (id)
  local ms, nth = string.match(id, '^(%d+)%-(%d+)$')
  return string.format('%013d-%06d', ms, nth)
end`

// A script that stops half-way leaves what it has done: what can be refused comes first, and is undone where it was not the first.

const APPEND = script(`${IDS}
local held = redis.call('HMGET', KEYS[2], 'size', 'tell')
local size = (tonumber(held[1]) or 0) + #ARGV[1]
local place = redis.call('XADD', KEYS[1], '*', 'e', ARGV[1])
local id = text(place)
local message = cjson.encode({ ARGV[6], id, ARGV[1] })
local channel = held[2] or ''
if channel == ARGV[5] then channel = '' end
for _, one in ipairs({ ARGV[5], channel }) do
  local heard = one ~= '' and redis.pcall('PUBLISH', one, message)
  if type(heard) == 'table' then
    redis.call('XDEL', KEYS[1], place)
    if redis.call('XLEN', KEYS[1]) == 0 then redis.call('DEL', KEYS[1]) end
    return heard
  end
end
local count = redis.call('XLEN', KEYS[1])
while count > tonumber(ARGV[2]) or (size > tonumber(ARGV[3]) and count > 1) do
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  count = count - 1
  redis.call('XTRIM', KEYS[1], 'MAXLEN', count)
  size = size - #oldest[2][2]
  redis.call('HSET', KEYS[2], 'dropped', text(oldest[1]))
end
redis.call('HSET', KEYS[2], 'size', size)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return id`)

const READ = script(`${IDS}
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not newest then return false end
local held = redis.call('HMGET', KEYS[2], 'size', 'dropped')
if ARGV[2] == '1' then
  redis.call('HSET', KEYS[2], 'tell', ARGV[3])
  redis.call('PEXPIRE', KEYS[2], math.max(redis.call('PTTL', KEYS[1]), 1))
end
-- Where Redis has thrown the hash away, nobody knows what was dropped.
local complete = held[1] and (held[2] or '') <= ARGV[1]
local reply = { complete and 1 or 0, text(newest[1]) }
if ARGV[4] == '0' or not (complete or ARGV[1] == '') then return reply end
local from = '-'
local ms, nth = string.match(ARGV[1], '^(%d+)%-(%d+)$')
if ms then from = string.format('(%d-%d', ms, nth) end
for _, one in ipairs(redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', ARGV[4])) do
  reply[#reply + 1] = text(one[1])
  reply[#reply + 1] = one[2][2]
end
return reply`)

const COUNT = script(`
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return { count, left }`)

/** The longest lifetime, in ms: Redis takes neither one without end nor none. */
const LONGEST = 315_360_000_000
const lifetime = (ms: number): number => Math.min(ms > 1 ? Math.ceil(ms) : 1, LONGEST)
/** More entries than a log has. */
const ALL = 2_147_483_647

/** Redis, or what speaks its language. */
export class RedisStore implements Store {
  private readonly commands: Commands
  private readonly prefix: string

  /** @param prefix of every key and channel */
  constructor (commands: Commands, prefix: string) {
    this.commands = commands
    this.prefix = prefix
  }

  async get (key: string, { touch }: { touch?: number } = {}): Promise<string | undefined> {
    const name = this.prefix + key
    const value = touch === undefined ? this.commands.run('GET', name) : this.commands.run('GETEX', name, 'PX', lifetime(touch))
    return await value as string | null ?? undefined
  }

  async set (key: string, value: string, ttl: number): Promise<void> {
    await this.commands.run('SET', this.prefix + key, value, 'PX', lifetime(ttl))
  }

  async swap (key: string, before: string | undefined, after: string, ttl: number): Promise<boolean> {
    return await this.commands.script(SWAP, [this.prefix + key], [before === undefined ? 0 : 1, before ?? '', after, lifetime(ttl)]) === 1
  }

  /** One more under a key that lasts `ms` from its first time on: how many there are, and how many ms it has left. */
  async count (key: string, ms: number): Promise<[count: number, left: number]> {
    return await this.commands.script(COUNT, [this.prefix + key], [ms]) as [number, number]
  }

  async delete (key: string): Promise<boolean> { return Number(await this.commands.run('DEL', ...this.pair(key))) > 0 }

  async append (log: string, entry: string, { max, size, ttl, tell }: LogLimits): Promise<string> {
    return await this.commands.script(APPEND, this.pair(log), [entry, max, size, lifetime(ttl), tell === undefined ? '' : this.prefix + tell, log]) as string
  }

  async read (log: string, after: string, { tell, limit = ALL }: { tell?: string, limit?: number } = {}): Promise<LogReading | undefined> {
    const channel = tell === undefined || tell === '' ? '' : this.prefix + tell
    const reply = await this.commands.script(READ, this.pair(log), [after, tell === undefined ? 0 : 1, channel, limit]) as [number, string, ...string[]] | null
    if (reply === null) return undefined
    const [complete, last, ...rest] = reply
    const entries = []
    for (let i = 0; i < rest.length; i += 2) entries.push({ id: rest[i] as string, entry: rest[i + 1] as string })
    return { entries, complete: complete === 1, last }
  }

  /** A key, and what goes with it where it is a log. */
  private pair (name: string): [string, string] {
    const key = this.prefix + name
    return [key, name.includes('{') ? `${key}:log` : `{${key}}:log`]
  }
}
