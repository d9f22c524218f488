import { backupCutRounds } from '../faults/backups/backup-cut-rounds.ts'
import { crashRounds, powerCutMachine } from '../faults/crash-rounds.ts'
import { FILE_SYSTEMS } from '../support/storage/volatile-disk.ts'

const REPORT_EVERY = 25
/** After so many power cuts what was deleted is still kept, and the disk has just room for one full account. */
const CUTS_OF_A_DISK = 25

/** Kills the server so many times; `HOLDFAST_TEST_CRASH_SEED` repeats a run. */
export function kills(rounds: number): Promise<string> {
  return crashes('kills', { rounds })
}

/** Cuts the power under the server so many times, half of them on each file system; `HOLDFAST_TEST_CRASH_SEED` repeats a run. */
export async function powerCuts(rounds: number): Promise<string> {
  const figures: string[] = []
  for (const kind of FILE_SYSTEMS) {
    for (let left = Math.ceil(rounds / FILE_SYSTEMS.length); left > 0; left -= CUTS_OF_A_DISK) {
      const each = { rounds: Math.min(left, CUTS_OF_A_DISK), on: () => powerCutMachine(kind) }
      figures.push(`${kind}: ${await crashes(`power cuts of ${kind}`, each)}`)
    }
  }
  return figures.join('\n')
}

/** Cuts the power under so many backups, and as many repairs, half of them on each file system. */
export async function backupCuts(rounds: number): Promise<string> {
  const seed = seedOf('power cuts of backups')
  const figures: string[] = []
  for (const kind of FILE_SYSTEMS) {
    const plan = { rounds: Math.ceil(rounds / FILE_SYSTEMS.length), seed, kind }
    figures.push(`${kind}: ${JSON.stringify(await backupCutRounds(plan))}`)
  }
  return figures.join('\n')
}

function seedOf(name: string): number {
  const text = process.env.HOLDFAST_TEST_CRASH_SEED
  const seed = text === undefined ? Math.floor(Math.random() * 1_000_000) : Number(text)
  console.log(`${name}: HOLDFAST_TEST_CRASH_SEED=${seed}`)
  return seed
}

async function crashes(
  name: string,
  plan: { readonly rounds: number; readonly on?: () => ReturnType<typeof powerCutMachine> },
): Promise<string> {
  const seed = seedOf(name)
  const figures = await crashRounds({ ...plan, seed }, (round) => {
    if (round % REPORT_EVERY === 0) console.log(`${name}: ${round} of ${plan.rounds}`)
  })
  return JSON.stringify(figures)
}
