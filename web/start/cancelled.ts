import type { Entry } from './board.ts'
import type { Parts, Runs } from './runs.ts'
import type { UploadState } from './upload-item.ts'

/** Uploads that were cancelled a moment ago, which can be taken back. */
export interface Cancelled {
  add(entry: Entry): void
  /** The state that it had; null when it was not cancelled. */
  takeBack(entry: Entry): UploadState | null
}

/** Milliseconds. */
const SECOND_THOUGHTS = 6000

export function createCancelled({ board, marks }: Parts, runs: Runs): Cancelled {
  const waiting = new Map<Entry, { timer: ReturnType<typeof setTimeout>; before: UploadState }>()

  function takeBack(entry: Entry): UploadState | null {
    const cancelled = waiting.get(entry)
    if (cancelled === undefined) return null
    clearTimeout(cancelled.timer)
    waiting.delete(entry)
    if (entry.keptId !== null) marks.remove(entry.keptId)
    return cancelled.before
  }

  function end(entry: Entry): void {
    const { keptId } = entry
    takeBack(entry)
    if (keptId !== null) marks.add(keptId)
    runs.giveUp(entry)
    board.remove(entry)
  }

  // Whoever leaves does not want them back.
  addEventListener('pagehide', () => {
    for (const entry of [...waiting.keys()]) end(entry)
  })

  return {
    add(entry) {
      const before = entry.item.state
      if (entry.keptId !== null) marks.add(entry.keptId)
      runs.stop(entry)
      board.setState(entry, { kind: 'cancelled' })
      waiting.set(entry, { timer: setTimeout(end, SECOND_THOUGHTS, entry), before })
    },
    takeBack,
  }
}
