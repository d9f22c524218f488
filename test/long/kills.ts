import { crashRounds, powerCutMachine } from '../faults/crash-rounds.ts'

const REPORT_EVERY = 50

/** Kills the server so many times; `HOLDFAST_TEST_CRASH_SEED` repeats a run. */
export function kills(rounds: number): Promise<string> {
  return crashes('kills', { rounds })
}

/** Cuts the power under the server so many times; `HOLDFAST_TEST_CRASH_SEED` repeats a run. */
export function powerCuts(rounds: number): Promise<string> {
  return crashes('power cuts', { rounds, on: powerCutMachine })
}

async function crashes(
  name: string,
  plan: { readonly rounds: number; readonly on?: typeof powerCutMachine },
): Promise<string> {
  const text = process.env.HOLDFAST_TEST_CRASH_SEED
  const seed = text === undefined ? Math.floor(Math.random() * 1_000_000) : Number(text)
  console.log(`${name}: HOLDFAST_TEST_CRASH_SEED=${seed}`)
  const figures = await crashRounds({ ...plan, seed }, (round) => {
    if (round % REPORT_EVERY === 0) console.log(`${name}: ${round} of ${plan.rounds}`)
  })
  return JSON.stringify(figures)
}
