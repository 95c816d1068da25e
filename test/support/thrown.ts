/** What something throws; where it throws nothing, an error that says so. */
export function thrown (act: () => unknown): any {
  try {
    act()
    return new Error('NOTHING WAS THROWN')
  } catch (error) {
    return error
  }
}
