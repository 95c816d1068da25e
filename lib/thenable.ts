/** Whether it is awaited: queries of some libraries are, though they are no promises of the language. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> => typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
