/** Summary of a test run. */
import { type Batch, titleOf } from './batches.ts'
import type { FileRun } from './file-run.ts'
import { budgetOf, nameOf, type Took } from './recorded-seconds.ts'
import type { Servers } from './servers.ts'
import { PAIRS } from './tiers.ts'

export interface Report {
  readonly lines: readonly string[]
  readonly passed: number
  readonly failed: number
}

export interface Results {
  readonly runs: readonly (readonly [Batch, FileRun])[]
  readonly recorded: ReadonlyMap<string, Took>
  readonly missing: Servers['missing']
  readonly ranTooLong: boolean
  readonly seconds: number
}

const SLOWEST_TOLD = 10

/** The last line is for programs: "N passed, N failed". */
export function reportOf({ runs, recorded, missing, ranTooLong, seconds }: Results): Report {
  const lines = runs.flatMap(([{ pair }, { failures }]) =>
    failures.map((failure) => `\n=== failed on ${PAIRS[pair]}: ${failure}`),
  )
  if (runs.length > SLOWEST_TOLD) {
    for (const figure of ['seconds', 'processorSeconds'] as const) {
      const most = runs.toSorted(([, a], [, b]) => b[figure] - a[figure]).slice(0, SLOWEST_TOLD)
      lines.push(`\nThe most ${figure === 'seconds' ? 'seconds' : 'seconds of processors'}:`)
      lines.push(...most.map(([batch, run]) => `  ${run[figure].toFixed(0).padStart(4)}  ${titleOf(batch)}`))
    }
  }
  for (const [batch, { processorSeconds: took }] of runs) {
    const { pair, files } = batch
    const budget = files.reduce((sum, file) => sum + budgetOf(recorded.get(nameOf({ pair, file }))), 0)
    if (took <= budget) continue
    const figures = `${took.toFixed(1)} s of processors, and may take ${budget.toFixed(1)} s`
    lines.push(`over its budget: ${titleOf(batch)} took ${figures}`)
  }
  const processors = runs.reduce((total, [, run]) => total + run.processorSeconds, 0)
  lines.push(`\n${seconds.toFixed(0)} s in all; the files took ${processors.toFixed(0)} s of processors`)
  for (const pair of ['folder', 'cluster'] as const) {
    const own = runs.filter(([task]) => task.pair === pair).map(([, run]) => run)
    if (own.length === 0) continue
    const of = (figure: 'passed' | 'failed' | 'skipped') => `${sum(own, figure)} ${figure}`
    lines.push(`${PAIRS[pair]}: ${of('passed')}, ${of('failed')}, ${of('skipped')}`)
  }
  for (const { suites, cluster, reason } of missing) {
    lines.push(`did not run: ${suites}${cluster ? ', the HTTP suite on three nodes' : ''}: ${reason}`)
  }
  const every = runs.map(([, run]) => run)
  for (const tests of new Set(every.flatMap(({ notRun }) => notRun))) lines.push(`did not run: ${tests}`)
  const places = new Set(every.flatMap((run) => [...run.places]))
  lines.push(`${places.size} distinct tests; below, each row of a table and each pair counts by itself`)
  const passed = sum(every, 'passed')
  const notRun = process.env.CI === 'true' ? missing.length : 0
  const failed = sum(every, 'failed') + notRun + (ranTooLong || passed === 0 ? 1 : 0)
  return { lines: [...lines, `${passed} passed, ${failed} failed`], passed, failed }
}

function sum(runs: readonly FileRun[], figure: 'passed' | 'failed' | 'skipped'): number {
  return runs.reduce((total, run) => total + run[figure], 0)
}
