// Only in test:all: rounds of crashes.
import { expect, test } from 'bun:test'
import { whyNoPostgres } from '../support/databases/postgres.ts'
import { reportNotRun } from '../support/processes/not-run.ts'
import { postgresCrashRounds } from './postgres-crash-rounds.ts'

const ROUNDS = 3
const obstacle = whyNoPostgres()
if (obstacle !== null) reportNotRun('crashes of PostgreSQL', obstacle)

test.skipIf(obstacle !== null && process.env.CI !== 'true')(
  `lost commits: PostgreSQL crashes ${ROUNDS} times in slow commits, and every answered upload is there`,
  async () => {
    expect(obstacle).toBeNull()
    const figures = await postgresCrashRounds({ rounds: ROUNDS, seed: 77 })
    console.log(`crashes of PostgreSQL: ${JSON.stringify(figures)}`)
    // Crashes that hit nothing under way prove nothing.
    expect(figures.failed).toBeGreaterThan(ROUNDS)
  },
  400_000,
)
