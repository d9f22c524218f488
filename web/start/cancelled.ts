import type { Board, Entry } from './board.ts'
import type { Runs } from './runs.ts'

/** Uploads that were cancelled a moment ago, which can be taken back. */
export interface Cancelled {
  add(entry: Entry): void
  takeBack(entry: Entry): void
}

/** Milliseconds. */
const SECOND_THOUGHTS = 6000

export function createCancelled(board: Board, runs: Runs): Cancelled {
  const waiting = new Map<Entry, ReturnType<typeof setTimeout>>()

  function end(entry: Entry): void {
    clearTimeout(waiting.get(entry))
    waiting.delete(entry)
    runs.giveUp(entry)
    board.remove(entry)
  }

  // Whoever leaves does not want them back.
  addEventListener('pagehide', () => {
    for (const entry of [...waiting.keys()]) end(entry)
  })

  return {
    add(entry) {
      runs.stop(entry)
      board.setState(entry, { kind: 'cancelled' })
      waiting.set(entry, setTimeout(end, SECOND_THOUGHTS, entry))
    },
    takeBack(entry) {
      clearTimeout(waiting.get(entry))
      waiting.delete(entry)
    },
  }
}
