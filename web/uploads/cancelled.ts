import type { BoardEntry } from './board.ts'
import type { UploadPhase } from './upload-item.ts'
import type { UploadRunContext, UploadRunner } from './upload-runner.ts'

/** Milliseconds. */
const SECOND_THOUGHTS = 6000

export class Cancelled {
  readonly #parts: UploadRunContext
  readonly #runs: UploadRunner
  readonly #waiting = new Map<BoardEntry, { timer: ReturnType<typeof setTimeout>; before: UploadPhase }>()

  constructor(parts: UploadRunContext, runs: UploadRunner) {
    this.#parts = parts
    this.#runs = runs
    // Leaving the page confirms the cancellations.
    addEventListener('pagehide', () => {
      for (const entry of [...this.#waiting.keys()]) this.#end(entry)
    })
  }

  add(entry: BoardEntry): void {
    const { board, marks } = this.#parts
    const before = entry.item.state
    if (entry.keptId !== null) marks.add(entry.keptId)
    this.#runs.stop(entry)
    board.setState(entry, { kind: 'cancelled' })
    this.#waiting.set(entry, { timer: setTimeout(() => this.#end(entry), SECOND_THOUGHTS), before })
  }

  takeBack(entry: BoardEntry): UploadPhase | null {
    const cancelled = this.#waiting.get(entry)
    if (cancelled === undefined) return null
    clearTimeout(cancelled.timer)
    this.#waiting.delete(entry)
    if (entry.keptId !== null) this.#parts.marks.remove(entry.keptId)
    return cancelled.before
  }

  #end(entry: BoardEntry): void {
    const { keptId } = entry
    this.takeBack(entry)
    if (keptId !== null) this.#parts.marks.add(keptId)
    this.#runs.giveUp(entry)
    this.#parts.board.remove(entry)
  }
}
