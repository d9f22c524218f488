/** Objects between collections. */
const MANY = 5_000

/** Call for each of very many short-lived objects: the collector would wait for as much garbage as memory in use. */
export function incrementalCollector(): () => void {
  let passed = 0
  return () => {
    if (++passed % MANY !== 0) return
    // Without force it runs in its own threads and hardly blocks the event loop.
    Bun.gc(false)
  }
}
