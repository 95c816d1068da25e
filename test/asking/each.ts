// Runs one check in several modes. Whatever it asks and leaves lying about, no rejection may go unhandled.
import t, { type Test } from 'tap'
import { wait } from '../support/time.js'
import { formModes, open, type Client, type Mode, type OpenOptions } from './client.js'

const unhandled: unknown[] = []
process.on('unhandledRejection', error => { unhandled.push(error) })
process.on('warning', warning => { if (warning.name.startsWith('MaxListeners')) unhandled.push(warning) })

export type Open = (options: OpenOptions) => Promise<Client>

export function each (title: string, modes: Mode[], run: (t: Test, open: Open, mode: Mode) => Promise<void>) {
  for (const mode of modes) {
    t.test(`${title} (${mode.title})`, async t => {
      await run(t, options => open(t, mode, options), mode)
      await heard(t)
    })
  }
}

/** For a test that goes its own way. */
export function alone (title: string, run: (t: Test) => Promise<void>) {
  t.test(title, async t => {
    await run(t)
    await heard(t)
  })
}

async function heard (t: Test) {
  await wait(10)
  t.strictSame(unhandled.splice(0), [], 'no rejection went unhandled')
}

export const everywhere = (title: string, run: (t: Test, open: Open, mode: Mode) => Promise<void>) => each(title, formModes, run)
