import { crashRounds } from '../faults/crash-rounds.ts'

const REPORT_EVERY = 50

/** Kills the server so many times; `HOLDFAST_TEST_CRASH_SEED` repeats a run. */
export async function kills(rounds: number): Promise<string> {
  const text = process.env.HOLDFAST_TEST_CRASH_SEED
  const seed = text === undefined ? Math.floor(Math.random() * 1_000_000) : Number(text)
  console.log(`kills: HOLDFAST_TEST_CRASH_SEED=${seed}`)
  const figures = await crashRounds({ rounds, seed }, (round) => {
    if (round % REPORT_EVERY === 0) console.log(`kills: ${round} of ${rounds}`)
  })
  return JSON.stringify(figures)
}
