/** First come, first served. */
export interface Semaphore {
  /** Resolves with a function that releases; null when `signal` was aborted first. */
  take(signal: AbortSignal): Promise<(() => void) | null>
}

export function createSemaphore(count: number): Semaphore {
  let free = count
  const queue: (() => void)[] = []

  function give(): () => void {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const next = queue.shift()
      if (next === undefined) free += 1
      else next()
    }
  }

  return {
    async take(signal) {
      if (signal.aborted) return null
      if (free > 0) {
        free -= 1
        return give()
      }
      return new Promise((resolve) => {
        const leave = () => {
          queue.splice(queue.indexOf(go), 1)
          resolve(null)
        }
        const go = () => {
          signal.removeEventListener('abort', leave)
          resolve(give())
        }
        queue.push(go)
        signal.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
