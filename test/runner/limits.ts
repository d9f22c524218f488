/** Time limits for tests, files and runs. */
import { availableParallelism, loadavg } from 'node:os'
import { MOST_EACH } from './queue.ts'

const MINUTE = 60_000

/** Milliseconds for a test without a limit of its own, for a file, and for the run. */
export interface Limits {
  readonly test: number
  readonly file: number
  readonly run: number
  /** HOLDFAST_TEST_PATIENCE of the tests: the factor of everything that they wait for. */
  readonly patience: number
}

/** Milliseconds that a test may take with a processor of its own. */
const TEST = 30_000
/** Limits on a machine that does nothing else. */
const SHORT = { file: 5 * MINUTE, run: 15 * MINUTE }
const ALL = { file: 10 * MINUTE, run: 60 * MINUTE }
/** Maximum factor by which a busy machine extends the limits. */
const MOST_PATIENCE = 5

/**
 * Limits scaled by the machine's load, and those of tests by the number of files that share a processor, if
 * they do. Must be called before the first test.
 */
export function limitsOfRun({
  isWhole,
  isShared,
}: {
  readonly isWhole: boolean
  readonly isShared: boolean
}): Limits {
  const load = (loadavg()[0] ?? 0) / availableParallelism()
  const busy = Math.min(MOST_PATIENCE, Math.max(1, Math.round(load)))
  const { file, run } = isWhole ? ALL : SHORT
  const patience = isShared ? Math.max(MOST_EACH, busy) : busy
  return { test: TEST * patience, file: file * busy, run: run * busy, patience }
}
