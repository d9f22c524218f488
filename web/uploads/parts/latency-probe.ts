import { isHighLatency, QUESTIONS } from '../../../src/client/policy/parts-policy.ts'
import { MINUTE } from '../../../src/domain/clock.ts'
import { ping } from '../server.ts'

/** A laptop may be on another line later. */
const REMEMBERED = 10 * MINUTE

/** Whether the line to the server is long, so that one connection may be slower than it. */
export class LatencyProbe {
  #answer: Promise<boolean> | null = null
  #asked = 0

  /** Asks the server only where nothing came from it lately, and once for many files. */
  isLong(): Promise<boolean> {
    if (!hasConnectionsOfItsOwn()) return Promise.resolve(false)
    const quickest = quickestAnswer()
    if (quickest !== null) return Promise.resolve(isHighLatency(quickest))
    const now = performance.now()
    if (this.#answer === null || now - this.#asked > REMEMBERED) {
      this.#asked = now
      this.#answer = ask()
    }
    return this.#answer
  }
}

async function ask(): Promise<boolean> {
  try {
    for (let asked = 0; asked < QUESTIONS; asked += 1) {
      const began = performance.now()
      await ping()
      if (!isHighLatency(performance.now() - began)) return false
    }
    return true
  } catch {
    // The upload itself asks again, and says what is wrong.
    return false
  }
}

/** Milliseconds of the quickest of the page's requests that were answered lately; null where there are too few to tell. */
function quickestAnswer(): number | null {
  const since = performance.now() - REMEMBERED
  const answers = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .filter((entry) => entry instanceof PerformanceResourceTiming)
    // What the browser had already took no time on the line.
    .filter(({ startTime, transferSize }) => startTime >= since && transferSize > 0)
    .map(({ requestStart, responseStart }) => responseStart - requestStart)
    .filter((taken) => taken > 0)
  return answers.length < QUESTIONS ? null : Math.min(...answers)
}

/** By HTTP/2 and HTTP/3 browsers send everything over one connection, so that parts would gain nothing. */
function hasConnectionsOfItsOwn(): boolean {
  const [page] = performance.getEntriesByType('navigation')
  return page instanceof PerformanceNavigationTiming && page.nextHopProtocol === 'http/1.1'
}
