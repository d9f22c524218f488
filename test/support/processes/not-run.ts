/** Says that tests do not run on this machine, and why; the end of a test run repeats it. */
export function reportNotRun(tests: string, reason: string): void {
  console.warn(`${tests}: not run, because ${reason}`)
}

const NOT_RUN = /^(.+): not run, because (.+)$/gm

/** What `reportNotRun` has said in the output of a run. */
export function notRunIn(output: string): string[] {
  return [...Bun.stripANSI(output).matchAll(NOT_RUN)].map(([, tests, reason]) => `${tests}: ${reason}`)
}
