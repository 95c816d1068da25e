/** What a timer can wait for, in ms: nearly 25 days. Node takes more for 1. */
export const MAX_TIMER = 2 ** 31 - 1
