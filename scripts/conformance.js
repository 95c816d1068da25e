// npm run conformance: the official suite against the fixture, for its requirement sets and the revisions before them.
// Exit status 1 when a scenario is open that scripts/expected-open.js does not name, or the other way round.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expectedOpen } from './expected-open.js'
import { startFixture } from './fixture.js'
import { runSuite } from './suite.js'

const out = await mkdtemp(join(tmpdir(), 'conformance-'))
const fixture = await startFixture()
try {
  for (const [revision, expected] of Object.entries(expectedOpen)) {
    const scenarios = await runSuite(revision, fixture.url, join(out, revision))
    // Without a server behind the port some scenarios would still find nothing wrong.
    await fixture.assertAlive()
    report(revision, scenarios, expected)
  }
} finally {
  await fixture.stop()
  await rm(out, { recursive: true, force: true })
}

function report (revision, scenarios, expected) {
  const open = scenarios.filter(({ problems }) => problems.length > 0)
  const names = open.map(({ name }) => name)
  console.log(`${revision}: ${scenarios.length - open.length}/${scenarios.length} scenarios without failure, warning or skip`)
  if (open.length > 0) console.log(`open: ${names.join(', ')}`)

  const surprises = open.filter(({ name }) => !expected.includes(name))
  for (const { name, problems } of surprises) console.error(`${name} should pass:\n  ${problems.join('\n  ')}`)
  const stale = expected.filter((name) => !names.includes(name))
  if (stale.length > 0) console.error(`no longer open, take out of expected-open.js: ${stale.join(', ')}`)
  if (surprises.length + stale.length > 0) process.exitCode = 1
}
