import { Type } from '@sinclair/typebox'
import type { TProperties } from '@sinclair/typebox'
import { MAX_TIMER } from '../schemas/time.js'
import { HERE, SENSITIVE } from '../validate.js'

// What options are made of.

/** Goes with what no message may show. */
export const secret = { [SENSITIVE]: HERE }

export const group = <T extends TProperties>(properties: T) => Type.Optional(Type.Object(properties, { additionalProperties: false }))
export const count = (minimum = 0, maximum?: number) => Type.Optional(Type.Integer({ minimum, ...(maximum !== undefined && { maximum }) }))
export const text = () => Type.String({ minLength: 1 })
export const texts = () => Type.Array(text(), { minItems: 1 })

/** What the clock is compared with, in ms: as long as one likes. */
export const ms = (minimum = 0) => Type.Optional(Type.Number({ minimum }))
/** What a timer waits for, in ms. */
export const timer = (minimum = 0) => Type.Optional(Type.Number({ minimum, maximum: MAX_TIMER }))
