import { patient } from './patience.ts'

/** Polls until the check returns true. Throws, naming what was awaited, after `seconds` on an idle machine. */
export async function eventually(
  what: string,
  check: () => Promise<boolean> | boolean,
  seconds = 20,
): Promise<void> {
  const end = performance.now() + patient(seconds)
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`waited ${patient(seconds) / 1000} s in vain until ${what}`)
    await Bun.sleep(20)
  }
}

/** Awaits the work. Throws, naming it, after `seconds` on an idle machine, which is clearer than a hook's timeout. */
export async function ends<T>(what: string, work: Promise<T>, seconds = 60): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`waited ${patient(seconds) / 1000} s in vain for the end of ${what}`)),
    patient(seconds),
  )
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
