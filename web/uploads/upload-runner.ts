import { RequestFailure } from './answers.ts'
import type { Board, BoardEntry } from './board.ts'
import type { CancelledMarks } from './cancelled-marks.ts'
import type { Finished } from './finished.ts'
import type { ReceiptStore } from './receipts.ts'
import { type Created, withdrawUpload } from './server.ts'
import { Transfer } from './transfer.ts'
import { type TransferContext, type TransferListener, UploadOver } from './transfer-context.ts'
import { NO_PACE } from './upload-item.ts'

export interface UploadRunContext {
  readonly way: TransferContext
  readonly board: Board
  readonly finished: Finished
  readonly receipts: ReceiptStore
  readonly marks: CancelledMarks
}

export class UploadRunner {
  readonly #parts: UploadRunContext

  readonly #takeBack: (entry: BoardEntry) => boolean

  /** `takeBack`: removes a given file that is not the upload's; false where none was given. */
  constructor(parts: UploadRunContext, takeBack: (entry: BoardEntry) => boolean) {
    this.#parts = parts
    this.#takeBack = takeBack
  }

  start(entry: BoardEntry): void {
    const { keptId } = entry
    if (keptId === null || entry.running !== null) return
    const running = new AbortController()
    const { signal } = running
    entry.running = running
    this.#parts.way.kept.setPaused(keptId, false)
    new Transfer(this.#parts.way, keptId, signal, this.#listener(entry, signal))
      .run()
      .then((end) => {
        if (end === 'done') this.finish(entry)
      })
      .catch((error: unknown) => {
        if (!signal.aborted) this.fail(entry, error)
      })
      .finally(() => {
        if (entry.running === running) entry.running = null
      })
  }

  /** Does not resume by itself, not even on the next page. */
  stop(entry: BoardEntry): void {
    entry.running?.abort()
    entry.running = null
    if (entry.keptId !== null) this.#parts.way.kept.setPaused(entry.keptId, true)
  }

  finish(entry: BoardEntry): void {
    const { board, finished, receipts, way } = this.#parts
    const created = this.#createdOf(entry)
    this.#forget(entry)
    entry.sent = entry.item.size
    const { name, size } = entry.item
    if (created?.receipt != null) {
      // A transfer is remembered as one.
      if (way.to.transfer !== undefined) board.setReceipt(entry, created.receipt)
      else receipts.add({ name, size, link: created.link, receipt: created.receipt, at: Date.now() })
    }
    board.setState(entry, { kind: 'done', deletion: created?.receipt == null ? null : 'possible' })
    finished.add(entry.item)
  }

  fail(entry: BoardEntry, error: unknown): void {
    const problem = error instanceof UploadOver ? error.problem : ({ kind: 'not-stored' } as const)
    if (problem.kind === 'other-content') {
      if (this.#takeBack(entry)) return
      // The program that began the upload can continue it.
      this.#forget(entry)
    }
    if (
      [
        'changed',
        'unreadable',
        'too-large',
        'guests-off',
        'expired',
        'content-refused',
        'link-kind',
        'transfer-over',
      ].includes(problem.kind)
    )
      this.giveUp(entry)
    // The next page does not send all of it again by itself.
    if (problem.kind === 'storage-refuses' && entry.keptId !== null) {
      this.#parts.way.kept.setPaused(entry.keptId, true)
    }
    this.#parts.board.setState(entry, { kind: 'failed', problem })
  }

  /** Also deletes the server's bytes, unless the file is complete. */
  giveUp(entry: BoardEntry): void {
    const created = this.#createdOf(entry)
    this.#forget(entry)
    if (created !== null) void terminate(this.#parts.way, created)
  }

  /** Ignores late events of an ended run, except its link. */
  #listener(entry: BoardEntry, signal: AbortSignal): TransferListener {
    const { board } = this.#parts
    return {
      stage(kind) {
        if (!signal.aborted) board.setState(entry, kind === 'sending' ? { kind, pace: NO_PACE } : { kind })
      },
      waiting(reason, until) {
        if (!signal.aborted) board.setState(entry, { kind: 'waiting', reason, until })
      },
      link: (link) => board.setLink(entry, link),
      sent(bytes) {
        entry.sent = bytes
      },
    }
  }

  #forget(entry: BoardEntry): void {
    if (entry.keptId === null) return
    this.#parts.way.kept.remove(entry.keptId)
    entry.keptId = null
  }

  #createdOf({ keptId }: BoardEntry): Created | null {
    return keptId === null ? null : (this.#parts.way.kept.find(keptId)?.created ?? null)
  }
}

/** Tries for an hour at most: then the upload expires on the server. */
async function terminate({ to }: TransferContext, created: Created): Promise<void> {
  for (let pause = 1000; pause < 60 * 60 * 1000; pause *= 2) {
    try {
      return await withdrawUpload(to, created)
    } catch (error) {
      const { answer } = error instanceof RequestFailure ? error : { answer: null }
      if (answer !== null && answer.status < 500 && answer.status !== 423) return
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}
