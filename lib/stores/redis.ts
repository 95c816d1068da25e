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

const APPEND = script(`${IDS}
local held = redis.call('HMGET', KEYS[2], 'size', 'tell')
local size = (tonumber(held[1]) or 0) + #ARGV[1]
local id = text(redis.call('XADD', KEYS[1], '*', 'e', ARGV[1]))
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
local message = cjson.encode({ ARGV[6], id, ARGV[1] })
local channel = held[2] or ''
if ARGV[5] ~= '' then redis.call('PUBLISH', ARGV[5], message) end
if channel ~= '' and channel ~= ARGV[5] then redis.call('PUBLISH', channel, message) end
return id`)

const READ = script(`${IDS}
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
if ARGV[2] == '1' then redis.call('HSET', KEYS[2], 'tell', ARGV[3]) end
local dropped = redis.call('HGET', KEYS[2], 'dropped') or ''
local from = '-'
local ms, nth = string.match(ARGV[1], '^(%d+)%-(%d+)$')
if ms then from = string.format('(%d-%d', ms, nth) end
local reply = { dropped <= ARGV[1] and 1 or 0 }
for _, one in ipairs(redis.call('XRANGE', KEYS[1], from, '+')) do
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
    const value = touch === undefined ? this.commands.run('GET', name) : this.commands.run('GETEX', name, 'PX', Math.ceil(touch))
    return await value as string | null ?? undefined
  }

  async set (key: string, value: string, ttl: number): Promise<void> {
    await this.commands.run('SET', this.prefix + key, value, 'PX', Math.ceil(ttl))
  }

  async swap (key: string, before: string | undefined, after: string, ttl: number): Promise<boolean> {
    return await this.commands.script(SWAP, [this.prefix + key], [before === undefined ? 0 : 1, before ?? '', after, Math.ceil(ttl)]) === 1
  }

  /** One more under a key that lasts `ms` from its first time on: how many there are, and how many ms it has left. */
  async count (key: string, ms: number): Promise<[count: number, left: number]> {
    return await this.commands.script(COUNT, [this.prefix + key], [ms]) as [number, number]
  }

  async delete (key: string): Promise<boolean> { return Number(await this.commands.run('DEL', ...this.pair(key))) > 0 }

  async append (log: string, entry: string, { max, size, ttl, tell }: LogLimits): Promise<string> {
    return await this.commands.script(APPEND, this.pair(log), [entry, max, size, Math.ceil(ttl), tell === undefined ? '' : this.prefix + tell, log]) as string
  }

  async read (log: string, after: string, { tell }: { tell?: string } = {}): Promise<LogReading | undefined> {
    const channel = tell === undefined || tell === '' ? '' : this.prefix + tell
    const reply = await this.commands.script(READ, this.pair(log), [after, tell === undefined ? 0 : 1, channel]) as [number, ...string[]] | null
    if (reply === null) return undefined
    const [complete, ...rest] = reply
    const entries = []
    for (let i = 0; i < rest.length; i += 2) entries.push({ id: rest[i] as string, entry: rest[i + 1] as string })
    return { entries, complete: complete === 1 }
  }

  /** A key, and what goes with it where it is a log. */
  private pair (name: string): [string, string] {
    const key = this.prefix + name
    return [key, name.includes('{') ? `${key}:log` : `{${key}}:log`]
  }
}
