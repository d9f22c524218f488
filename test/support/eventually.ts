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
