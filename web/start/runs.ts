import { RequestFailure } from './answers.ts'
import type { Board, Entry } from './board.ts'
import type { CancelledMarks } from './cancelled-marks.ts'
import type { FileHandles } from './file-handles.ts'
import type { Finished } from './finished.ts'
import type { Receipts } from './receipts.ts'
import { type Created, takeBack } from './server.ts'
import { transfer, UploadOver, type Way } from './transfer.ts'
import { NO_PACE } from './upload-item.ts'

/** What the parts of the list work with. */
export interface Parts {
  readonly way: Way
  readonly board: Board
  readonly handles: FileHandles
  readonly finished: Finished
  readonly receipts: Receipts
  readonly marks: CancelledMarks
}

/** Brings uploads to their ends, each of them once at a time. */
export interface Runs {
  start(entry: Entry): void
  /** It stays as it is, and does not go on by itself, not even on the next page. */
  stop(entry: Entry): void
  /** It is safe on the server. */
  finish(entry: Entry): void
  fail(entry: Entry, error: unknown): void
  /** Takes what has arrived off the server too, unless the file is complete. */
  giveUp(entry: Entry): void
}

export function createRuns({ way, board, handles, finished, receipts }: Parts): Runs {
  const { kept } = way

  function start(entry: Entry): void {
    const { keptId } = entry
    if (keptId === null || entry.running !== null) return
    const running = new AbortController()
    entry.running = running
    kept.setPaused(keptId, false)
    /** What comes late from a run that was ended is not told. */
    const unless = (tell: () => void) => {
      if (!running.signal.aborted) tell()
    }
    transfer(way, keptId, running.signal, {
      stage: (kind) =>
        unless(() => board.setState(entry, kind === 'sending' ? { kind, pace: NO_PACE } : { kind })),
      waiting: (reason, until) => unless(() => board.setState(entry, { kind: 'waiting', reason, until })),
      link: (link) => board.setLink(entry, link),
      sent(bytes) {
        entry.sent = bytes
      },
    })
      .then((end) => {
        if (end === 'done') finish(entry)
      })
      .catch((error: unknown) => unless(() => fail(entry, error)))
      .finally(() => {
        if (entry.running === running) entry.running = null
      })
  }

  function finish(entry: Entry): void {
    const created = createdOf(entry)
    forget(entry)
    entry.sent = entry.item.size
    const { name, size } = entry.item
    if (created?.receipt != null) {
      receipts.add({ name, size, link: created.link, receipt: created.receipt, at: Date.now() })
    }
    board.setState(entry, { kind: 'done', deletion: created?.receipt == null ? null : 'possible' })
    finished.add(entry.item)
  }

  function fail(entry: Entry, error: unknown): void {
    const problem = error instanceof UploadOver ? error.problem : ({ kind: 'not-stored' } as const)
    if (['changed', 'too-large', 'guests-off', 'expired', 'content-refused'].includes(problem.kind))
      giveUp(entry)
    board.setState(entry, { kind: 'failed', problem })
  }

  /** Nothing has to outlive the page any more. */
  function forget(entry: Entry): void {
    if (entry.keptId === null) return
    kept.remove(entry.keptId)
    void handles.forget(entry.keptId)
    entry.keptId = null
  }

  function createdOf({ keptId }: Entry): Created | null {
    return keptId === null ? null : (kept.find(keptId)?.created ?? null)
  }

  function giveUp(entry: Entry): void {
    const created = createdOf(entry)
    forget(entry)
    if (created !== null) void terminate(way, created)
  }

  return {
    start,
    stop(entry) {
      entry.running?.abort()
      entry.running = null
      if (entry.keptId !== null) kept.setPaused(entry.keptId, true)
    },
    finish,
    fail,
    giveUp,
  }
}

/** Tries for an hour at most: what is left then the server clears away by itself. */
async function terminate({ to }: Way, created: Created): Promise<void> {
  for (let pause = 1000; pause < 60 * 60 * 1000; pause *= 2) {
    try {
      return await takeBack(to, created)
    } catch (error) {
      const { answer } = error instanceof RequestFailure ? error : { answer: null }
      if (answer !== null && answer.status < 500 && answer.status !== 423) return
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}
