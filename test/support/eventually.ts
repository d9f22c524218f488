/** Asks again until the answer is true. Throws, naming what was awaited, when that takes longer than `seconds`. */
export async function eventually(
  what: string,
  check: () => Promise<boolean> | boolean,
  seconds = 20,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`waited ${seconds} s in vain until ${what}`)
    await Bun.sleep(20)
  }
}

/** What the work gives. Throws, naming it, when that takes longer than `seconds`: who waits longer only sees a hook that timed out. */
export async function ends<T>(what: string, work: Promise<T>, seconds = 60): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`waited ${seconds} s in vain for the end of ${what}`)),
    seconds * 1000,
  )
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
