/** Limits of what a test waits for, longer where many files share the processors; `test/run.ts` says how much. */

const FACTOR = Number(process.env.HOLDFAST_TEST_PATIENCE ?? '1')

/** Milliseconds of a limit that is so many seconds on an idle machine. */
export function patient(seconds: number): number {
  return seconds * 1000 * FACTOR
}
