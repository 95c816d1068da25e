/** What of an error may be logged: clients of stores put the command into theirs, and with it what users say. */
export function trouble (error: unknown): { error: string, code?: string } {
  const { message = String(error), code } = (error ?? {}) as { message?: string, code?: unknown }
  return { error: message, ...(typeof code === 'string' ? { code } : {}) }
}
