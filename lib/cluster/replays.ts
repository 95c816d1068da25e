import type { Id } from '../jsonrpc.js'
import { REPLAY, SHELF } from '../replay.js'
import type { ReplayLimits, Sink } from '../replay.js'
import { Room } from './backlog.js'
import type { Announcement, Member, Note } from './member.js'
import { logOf } from './record.js'
import { ClusterStream, streamId } from './stream.js'
import { Tail } from './tail.js'

const STREAM_ID = /^([0-9a-f]{12}_[0-9a-f]{8})\.(0|\d{13}-\d{6})$/

/** A stream that a client asks to go on with. */
export interface Lost {
  attach (sink: Sink): void
  detach (): void
}

/** The streams of calls: those that this process writes, and those that are read here. */
export class ClusterStreams {
  private readonly member: Member
  private readonly limits: ReplayLimits
  private readonly patience: number
  private readonly room = new Room(SHELF.size)
  private readonly writing = new Map<string, ClusterStream>()
  private readonly reading = new Map<string, Tail>()

  /** @param patience ms that a call may take */
  constructor (member: Member, patience: number, limits = REPLAY) {
    this.member = member
    this.limits = limits
    this.patience = patience
    member.onEntry((...announcement) => this.announced(announcement))
    member.on('reader', (note: Note) => { this.readBy(note) })
    member.on('lost', ({ log }: Note) => { this.lose(log) })
    member.on('release', ({ log }: Note) => { this.reading.get(log)?.release() })
    member.onGap(() => Promise.all([...this.reading.values()].map(tail => tail.catchUp())))
    member.onTick(() => { this.look() })
  }

  open (session: string, ids: Id[]): ClusterStream {
    const id = streamId(this.member.id)
    const log = logOf(session, id)
    const { events: max, size, ttl } = this.limits
    const stream = new ClusterStream(id, this.member, ids, { log, running: { max, size, ttl: ttl + this.patience }, over: { max, size, ttl }, room: this.room, ended: () => this.writing.delete(log) })
    this.writing.set(log, stream)
    return stream
  }

  /** @returns undefined where the event is of no stream of this session, or what came after it is not kept any more */
  async find (session: string, eventId: string): Promise<Lost | undefined> {
    const [, id, after] = STREAM_ID.exec(eventId) ?? []
    if (id === undefined || after === undefined) return undefined
    const log = logOf(session, id)
    const found = await Tail.open(this.member, this.reading, log, id, after)
    if (found === undefined) return undefined
    const { tail, reading } = found
    await this.say(tail, true)
    return {
      attach: sink => {
        tail.attach(sink, reading)
        if (!tail.over) this.check(tail)
      },
      detach: () => this.drop(tail)
    }
  }

  /** Resolves when all that was written is in the logs. */
  async written (): Promise<void> { await Promise.all([...this.writing.values()].map(one => one.written)) }

  private announced ([log, id, entry]: Announcement): boolean {
    const tail = this.reading.get(log)
    tail?.announced({ id, entry })
    return tail !== undefined
  }

  private drop (tail: Tail): void {
    tail.over = true
    if (this.reading.get(tail.log) !== tail) return
    this.reading.delete(tail.log)
    this.say(tail, false)
  }

  /** The process that writes hears where the client is: there it can be asked. */
  private async say (tail: Tail, reads: boolean, still = false): Promise<void> {
    await this.member.tell(tail.producer, { kind: 'reader', log: tail.log, process: this.member.id, reads, still }).catch(() => {})
  }

  /** Who reads what is not written any more need not wait for what its log does not have. */
  private readBy ({ log, process, reads, still }: Note): void {
    const stream = this.writing.get(log)
    if (stream !== undefined) stream.readBy(process, reads, still)
    else if (reads) this.member.tell(process, { kind: 'lost', log }).catch(() => {})
  }

  private async lose (log: string): Promise<void> {
    const tail = this.reading.get(log)
    if (tail === undefined || tail.over) return
    await this.fail(tail, 'what it had to say is lost')
  }

  /** Nobody waits for a process that is gone. */
  private look (): void { for (const tail of this.reading.values()) this.check(tail) }

  private async check (tail: Tail): Promise<void> {
    if (await this.member.alive(tail.producer) !== false) {
      await tail.lookAgain().catch(() => {})
      if (!tail.over) await this.say(tail, true, true)
      return
    }
    if (await this.fail(tail, 'the process that served this call is gone')) this.reading.delete(tail.log)
  }

  /** Its last words may still be on their way. False where they cannot be read now: there will be another look. */
  private async fail (tail: Tail, why: string): Promise<boolean> {
    try {
      await tail.catchUp()
    } catch {
      return false
    }
    tail.fail(why)
    return true
  }
}
