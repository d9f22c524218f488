/** The end of a run's output. */
import type { FileRun } from './file-run.ts'
import { type Batch, PAIRS, titleOf } from './plan.ts'
import type { Servers } from './servers.ts'

const SLOWEST_TOLD = 10

/** Failures, the slowest, what did not run; the last line is for programs: "N passed, N failed". */
export function linesOf({
  runs,
  missing,
  ranTooLong,
}: {
  readonly runs: readonly (readonly [Batch, FileRun])[]
  readonly missing: Servers['missing']
  readonly ranTooLong: boolean
}): { readonly lines: readonly string[]; readonly failed: number } {
  const lines = runs.flatMap(([{ pair }, { failures }]) =>
    failures.map((failure) => `\n=== failed on ${PAIRS[pair]}: ${failure}`),
  )
  if (runs.length > SLOWEST_TOLD) {
    const slowest = runs.toSorted(([, a], [, b]) => b.seconds - a.seconds).slice(0, SLOWEST_TOLD)
    lines.push('\nThe most seconds:')
    lines.push(
      ...slowest.map(([batch, { seconds }]) => `  ${seconds.toFixed(0).padStart(4)}  ${titleOf(batch)}`),
    )
  }
  for (const pair of ['folder', 'cluster'] as const) {
    const own = runs.filter(([batch]) => batch.pair === pair)
    if (own.length === 0) continue
    const of = (figure: Figure) => `${sum(own, figure)} ${figure}`
    lines.push(`${PAIRS[pair]}: ${of('passed')}, ${of('failed')}, ${of('skipped')}`)
  }
  for (const { suites, cluster, reason } of missing) {
    lines.push(`did not run: ${suites}${cluster ? ', the HTTP suite on three nodes' : ''}: ${reason}`)
  }
  for (const tests of new Set(runs.flatMap(([, { notRun }]) => notRun))) lines.push(`did not run: ${tests}`)
  const passed = sum(runs, 'passed')
  const notRun = process.env.CI === 'true' ? missing.length : 0
  const failed = sum(runs, 'failed') + notRun + (ranTooLong || passed === 0 ? 1 : 0)
  return { lines: [...lines, `${passed} passed, ${failed} failed`], failed }
}

type Figure = 'passed' | 'failed' | 'skipped'

function sum(runs: readonly (readonly [Batch, FileRun])[], figure: Figure): number {
  return runs.reduce((total, [, run]) => total + run[figure], 0)
}
