import { postgresCrashRounds } from '../faults/postgres-crash-rounds.ts'

const REPORT_EVERY = 10

/** Crashes PostgreSQL so many times; `HOLDFAST_TEST_CRASH_SEED` repeats a run's contents and delays. */
export async function postgresCrashes(rounds: number): Promise<string> {
  const text = process.env.HOLDFAST_TEST_CRASH_SEED
  const seed = text === undefined ? Math.floor(Math.random() * 1_000_000) : Number(text)
  console.log(`postgres-crashes: HOLDFAST_TEST_CRASH_SEED=${seed}`)
  const figures = await postgresCrashRounds({ rounds, seed }, (round) => {
    if (round % REPORT_EVERY === 0) console.log(`postgres-crashes: ${round} of ${rounds}`)
  })
  return JSON.stringify(figures)
}
