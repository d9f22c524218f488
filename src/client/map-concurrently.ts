/**
 * Calls `take` in order, as soon as possible. Throws the first error of `work` once running work has ended.
 */
export async function mapConcurrently<Item, Result>(
  items: AsyncIterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
  take: (result: Result) => void,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const early = new Map<number, { readonly result: Result }>()
  const failures: unknown[] = []
  let begun = 0
  let taken = 0

  async function run(item: Item, number: number): Promise<void> {
    try {
      early.set(number, { result: await work(item) })
    } catch (error) {
      failures.push(error)
      return
    }
    for (let next = early.get(taken); next !== undefined; next = early.get(taken)) {
      early.delete(taken)
      taken += 1
      take(next.result)
    }
  }

  for await (const item of items) {
    const job = run(item, begun).finally(() => running.delete(job))
    begun += 1
    running.add(job)
    if (running.size >= width) await Promise.race(running)
    if (failures.length > 0) break
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}
