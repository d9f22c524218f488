/** Objects after which those that passed through once are collected. */
const MANY = 5_000

/**
 * For work that makes very many objects and keeps none: says of each that it has passed, and what they leave behind is
 * collected beside the work before it has piled up. Left to itself the collector waits for as much garbage as there is
 * memory in use, and what the process has grown to it does not soon give back.
 */
export function incrementalCollector(): () => void {
  let passed = 0
  return () => {
    if (++passed % MANY !== 0) return
    // Without force it runs in threads of its own and holds the loop up for next to nothing.
    Bun.gc(false)
  }
}
