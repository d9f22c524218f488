import { isLongLine, QUESTIONS } from '../../../src/client/policy/parts-policy.ts'
import { MINUTE } from '../../../src/domain/clock.ts'
import { askForExtensions } from '../server.ts'

/** A laptop may be on another line later. */
const REMEMBERED = 10 * MINUTE

/** Whether the line to the server is long, so that one connection may be slower than it. Asked once for many files. */
export class LongLine {
  #answer: Promise<boolean> | null = null
  #asked = 0

  isLong(): Promise<boolean> {
    const now = performance.now()
    if (this.#answer === null || now - this.#asked > REMEMBERED) {
      this.#asked = now
      this.#answer = look()
    }
    return this.#answer
  }
}

async function look(): Promise<boolean> {
  if (!hasConnectionsOfItsOwn()) return false
  try {
    for (let asked = 0; asked < QUESTIONS; asked += 1) {
      const began = performance.now()
      const extensions = await askForExtensions()
      const isLong = isLongLine(performance.now() - began)
      if (!isLong || !extensions.includes('concatenation-unfinished')) return false
    }
    return true
  } catch {
    // The upload itself asks again, and says what is wrong.
    return false
  }
}

/** By HTTP/2 and HTTP/3 browsers send everything over one connection, so that parts would gain nothing. */
function hasConnectionsOfItsOwn(): boolean {
  const [page] = performance.getEntriesByType('navigation')
  return page instanceof PerformanceNavigationTiming && page.nextHopProtocol === 'http/1.1'
}
