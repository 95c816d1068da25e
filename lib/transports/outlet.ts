import { rpcError } from '../errors.js'
import type { McpError } from '../errors.js'
import type { KeptStream, Sink } from '../replay.js'
import { frame } from './stream.js'
import type { SseStream } from './stream.js'

/** Where the messages of one stream are written: a connection, or a stream that may outlive its connections. */
export interface Outlet {
  readonly connected: boolean
  /** Resolves when what was written has been taken; undefined where nothing waits. */
  readonly ready: Promise<void> | undefined
  write (text: string): void
  /** Nothing follows `last`. */
  end (last?: string): void
  /** Lets the connection go; the client comes back for the rest. Nothing where it could not. */
  release (): void
  /** Whether it is kept as long as its session, connected or not. Not there where no client could come back. */
  last? (lasting: boolean): void
}

export const plain = (stream: SseStream): Outlet => new Plain(stream)

/** A class, since an object literal with a getter takes half a KiB more for each. */
class Plain implements Outlet {
  private readonly stream: SseStream

  constructor (stream: SseStream) { this.stream = stream }

  get connected (): boolean { return this.stream.connected }
  get ready (): Promise<void> | undefined { return this.stream.ready }
  write (text: string): void { this.stream.write(frame(text)) }
  end (last?: string): void { this.stream.end(last === undefined ? '' : frame(last)) }
  release (): void {}
}

/** How long a client should wait before it comes back, in ms. */
const RETRY = 1_000

/** An event without data tells the client where its stream begins (2025-11-25 basic/transports, Resumability and Redelivery). */
export const primer = (id: string): string => `id: ${id}\nretry: ${RETRY}\ndata: \n\n`

/** A client asked for the rest of a stream that is not its own, or not there any more. */
export const notKept = (): McpError => rpcError('InvalidRequest', 'Last-Event-ID is of no stream of this session, or what came after it is not kept any more; open a stream without it')

/** Connects a stream that can be resumed, and primes it where the revision does that. */
export function resumable (replay: KeptStream, stream: SseStream, { primed, after }: { primed: boolean, after: number | undefined }): Outlet {
  const outlet = new Resumable(replay, stream)
  if (primed) stream.write(primer(replay.start))
  replay.attach(outlet, after)
  stream.onClose(() => replay.detach(outlet))
  return outlet
}

/** What is written goes to the stream that is kept, and from there to the connection while it lasts. One object for both: there is one for each idle stream. */
class Resumable implements Outlet, Sink {
  private readonly replay: KeptStream
  private readonly stream: SseStream

  constructor (replay: KeptStream, stream: SseStream) {
    this.replay = replay
    this.stream = stream
  }

  get connected (): boolean { return this.replay.connected }
  get ready (): Promise<void> | undefined { return this.stream.ready }

  write (text: string): void { this.replay.write(text) }

  end (last?: string): void {
    if (last !== undefined) this.replay.write(last)
    this.replay.end()
  }

  release (): void { this.replay.release() }

  event (id: string | undefined, text: string): void { this.stream.write(frame(text, id)) }
  disconnect (): void { this.stream.end() }
}
