/** Whether two types are the same, readonly and optional included. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

/** Does not compile unless it is given `true`: `expect<Equal<A, B>>()`. */
export declare function expect<Same extends true> (...none: Same[]): void

/** Does not compile unless the value has exactly this type: `is<string>()(value)`. */
export declare function is<Wanted> (): <Given>(value: Given, ...same: Equal<Given, Wanted> extends true ? [] : [never]) => void
