import { type PostgresCrashFigures, postgresCrashRounds } from '../faults/postgres-crash-rounds.ts'
import { FILE_SYSTEMS } from '../support/storage/volatile-disk.ts'

const REPORT_EVERY = 10

/** Crashes PostgreSQL so many times; `HOLDFAST_TEST_CRASH_SEED` repeats a run's contents and delays. */
export async function postgresCrashes(rounds: number): Promise<string> {
  return JSON.stringify(await crashes('postgres-crashes', { rounds, on: null }))
}

/** Cuts the power under PostgreSQL and the store on one disk so many times, half of them on each file system. */
export async function postgresPowerCuts(rounds: number): Promise<string> {
  const figures: string[] = []
  for (const kind of FILE_SYSTEMS) {
    const plan = { rounds: Math.ceil(rounds / FILE_SYSTEMS.length), on: kind }
    figures.push(`${kind}: ${JSON.stringify(await crashes(`postgres-power-cuts of ${kind}`, plan))}`)
  }
  return figures.join('\n')
}

async function crashes(
  name: string,
  plan: Pick<Parameters<typeof postgresCrashRounds>[0], 'rounds' | 'on'>,
): Promise<PostgresCrashFigures> {
  const text = process.env.HOLDFAST_TEST_CRASH_SEED
  const seed = text === undefined ? Math.floor(Math.random() * 1_000_000) : Number(text)
  console.log(`${name}: HOLDFAST_TEST_CRASH_SEED=${seed}`)
  return postgresCrashRounds({ ...plan, seed }, (round) => {
    if (round % REPORT_EVERY === 0) console.log(`${name}: ${round} of ${plan.rounds}`)
  })
}
