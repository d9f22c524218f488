/** Many worlds, one after another. */
import { runWorld, type WorldReport } from './world.ts'

export type WorldFigures = Omit<WorldReport, 'trace' | 'problems'> & { readonly worlds: number }

/** Lines of the trace that a failure shows. */
const SHOWN = 40

/** Throws an Error with the number of the first world in which something is wrong, its last steps, and how to repeat it. */
export async function runWorlds(
  { worlds, first }: { readonly worlds: number; readonly first: number },
  watch: (done: number) => void = () => {},
): Promise<WorldFigures> {
  const sum = { kills: 0, faults: 0, begun: 0, acknowledged: 0 }
  for (let seed = first; seed < first + worlds; seed++) {
    const { trace, problems, ...figures } = await runWorld(seed)
    if (problems.length > 0) {
      const lines = [...problems, `its last ${SHOWN} steps:`, ...trace.slice(-SHOWN)]
      const again = `again with: npm run test:long -- worlds 1 ${seed}`
      throw new Error(`world ${seed}: ${lines.join('\n')}\n${again}`)
    }
    sum.kills += figures.kills
    sum.faults += figures.faults
    sum.begun += figures.begun
    sum.acknowledged += figures.acknowledged
    watch(seed - first + 1)
  }
  return { worlds, ...sum }
}
