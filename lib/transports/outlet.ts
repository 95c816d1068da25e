import type { ReplayStream, Sink } from '../replay.js'
import { frame } from './stream.js'
import type { SseStream } from './stream.js'

/** Where the messages of one stream are written: a connection, or a stream that may outlive its connections. */
export interface Outlet {
  readonly connected: boolean
  write (text: string): void
  /** Nothing follows `last`. */
  end (last?: string): void
  /** Lets the connection go; the client comes back for the rest. Nothing where it could not. */
  release (): void
}

export const plain = (stream: SseStream): Outlet => ({
  get connected () { return stream.connected },
  write: text => stream.write(frame(text)),
  end: last => stream.end(last === undefined ? '' : frame(last)),
  release () {}
})

/** How long a client should wait before it comes back, in ms. */
const RETRY = 1_000

/** Connects a stream that can be resumed. `primed`: an event without data tells the client where the stream begins (2025-11-25 basic/transports). */
export function resumable (replay: ReplayStream, stream: SseStream, { primed, after }: { primed: boolean, after: number | undefined }): Outlet {
  const sink: Sink = {
    event: (id, text) => stream.write(`id: ${id}\n${frame(text)}`),
    end: () => stream.end()
  }
  stream.onClose(() => replay.detach(sink))
  if (primed) stream.write(`id: ${replay.start}\nretry: ${RETRY}\ndata: \n\n`)
  replay.attach(sink, after)
  return {
    get connected () { return replay.connected },
    write: text => replay.write(text),
    end (last) {
      if (last !== undefined) replay.write(last)
      replay.end()
    },
    release: () => replay.release()
  }
}
