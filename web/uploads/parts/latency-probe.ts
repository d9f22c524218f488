import { isHighLatency, QUESTIONS } from '../../../src/client/policy/parts-policy.ts'
import { MINUTE } from '../../../src/domain/clock.ts'
import { ping } from '../server.ts'

/** A laptop may change networks. */
const REMEMBERED = 10 * MINUTE

export class LatencyProbe {
  #answer: Promise<boolean> | null = null
  #asked = 0

  /** Asks the server only without recent answers, once for many files. */
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
    // The upload itself retries and reports the failure.
    return false
  }
}

/** Milliseconds of the page's quickest recent request; null for too few requests. */
function quickestAnswer(): number | null {
  const since = performance.now() - REMEMBERED
  const answers = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .filter((entry) => entry instanceof PerformanceResourceTiming)
    // Answers from the browser's cache took no time.
    .filter(({ startTime, transferSize }) => startTime >= since && transferSize > 0)
    .map(({ requestStart, responseStart }) => responseStart - requestStart)
    .filter((taken) => taken > 0)
  return answers.length < QUESTIONS ? null : Math.min(...answers)
}

/** Browsers multiplex HTTP/2 and HTTP/3 over one connection, so parts would gain nothing. */
function hasConnectionsOfItsOwn(): boolean {
  const [page] = performance.getEntriesByType('navigation')
  return page instanceof PerformanceNavigationTiming && page.nextHopProtocol === 'http/1.1'
}
