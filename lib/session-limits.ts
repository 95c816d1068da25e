import { REPLAY } from './replay.js'
import type { ReplayLimits } from './replay.js'

/** The greatest of what one session may have, in one process. */
export interface SessionBounds {
  /** Calls in flight. */
  calls: number
  /** Requests of our own without an answer yet. */
  questions: number
  /** What its streams have brought. */
  replay: ReplayLimits
}

export const BOUNDS: SessionBounds = { calls: 1_000, questions: 100, replay: REPLAY }

/** `idle` in ms, how many sessions there may be, and how many of one caller. */
export interface SessionLimits extends Partial<SessionBounds> { idle: number, max: number, maxPerCaller: number }
