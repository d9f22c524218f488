import { isSignedOut } from '../shared/session.ts'

/**
 * Operations continue across network failures until the server has answered, and can be undone. Batches are
 * idempotent, since each may be sent twice.
 */

export interface Batch {
  readonly count: number
  /** Resolves with the refused entries; rejects when the outcome is unknown. */
  run(): Promise<readonly FailedOperation[]>
}

export interface FailedOperation {
  readonly name: string
  readonly code: string
}

export interface Work<Kind> {
  readonly kind: Kind
  readonly batches: readonly Batch[]
  readonly undo: (() => Work<Kind>) | null
}

export interface FileOperation<Kind> {
  readonly id: number
  readonly kind: Kind
  readonly isUndo: boolean
  readonly total: number
  readonly done: number
  readonly failed: readonly FailedOperation[]
  readonly canUndo: boolean
  /** `waiting`: offline, retries by itself. `signed out`: continues after `retry`. */
  readonly state: 'running' | 'waiting' | 'signed out' | 'over'
}

interface Listed<Kind> {
  shown: FileOperation<Kind>
  readonly work: Work<Kind>
  isStopped: boolean
  readonly ended: PromiseWithResolvers<void>
}

/** Milliseconds, the longest backoff. */
const PATIENCE = 15_000

/** Returns a function that cancels the timer; `wait` in milliseconds. */
export type Later = (act: () => void, wait: number) => () => void

export function later(act: () => void, wait: number): () => void {
  const timer = setTimeout(act, wait)
  return () => clearTimeout(timer)
}

export class Operations<Kind> {
  readonly #later: Later
  readonly #listeners = new Set<() => void>()
  readonly #listed = new Map<number, Listed<Kind>>()
  readonly #waiting = new Set<() => void>()
  #count = 0
  /** Latest undoable operation that has left the list. */
  #left = 0
  #snapshot: readonly FileOperation<Kind>[] = []

  constructor(later: Later) {
    this.#later = later
  }

  /** A new object only after a change. Latest last. */
  readonly snapshot = (): readonly FileOperation<Kind>[] => this.#snapshot

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** Resolves on success, failure or undo. */
  start(work: Work<Kind>): Promise<void> {
    return this.#begin(work, false)
  }

  retry(): void {
    for (const end of [...this.#waiting]) end()
  }

  /** Stops it, and undoes what may have been done. */
  async undo(id: number): Promise<void> {
    const it = this.#listed.get(id)
    if (it === undefined || it.work.undo === null || !it.shown.canUndo) return
    it.isStopped = it.shown.state !== 'over'
    this.#listed.delete(id)
    // A pending request would otherwise follow its undo.
    this.retry()
    const back = it.work.undo()
    this.#publish()
    await it.ended.promise
    await this.#begin(back, true)
  }

  /** The latest undoable one on the list, unless a later one has left it. */
  async undoLast(): Promise<void> {
    const last = this.#snapshot.findLast(({ canUndo, isUndo }) => canUndo && !isUndo)
    if (last !== undefined && last.id > this.#left) await this.undo(last.id)
  }

  withdrawUndo(which: (kind: Kind) => boolean): void {
    for (const it of this.#listed.values()) if (which(it.shown.kind)) this.#show(it, { canUndo: false })
  }

  /** Only operations that are over. */
  dismiss(id: number): void {
    const shown = this.#listed.get(id)?.shown
    if (shown?.state !== 'over') return
    if (shown.canUndo) this.#left = Math.max(this.#left, id)
    this.#listed.delete(id)
    this.#publish()
  }

  #publish(): void {
    this.#snapshot = [...this.#listed.values()].map(({ shown }) => shown)
    for (const changed of this.#listeners) changed()
  }

  #show(it: Listed<Kind>, change: Partial<FileOperation<Kind>>): void {
    it.shown = { ...it.shown, ...change }
    this.#publish()
  }

  /** Null waits for `retry`. */
  #pause(wait: number | null): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        callOff()
        this.#waiting.delete(end)
        resolve()
      }
      const callOff = wait === null ? () => {} : this.#later(end, wait)
      this.#waiting.add(end)
    })
  }

  async #insist(it: Listed<Kind>, batch: Batch): Promise<readonly FailedOperation[] | null> {
    for (let wait = 1000; ; wait = Math.min(PATIENCE, wait * 2)) {
      if (it.isStopped) return null
      try {
        return await batch.run()
      } catch (error) {
        if (it.isStopped) return null
        const isOut = isSignedOut(error)
        this.#show(it, { state: isOut ? 'signed out' : 'waiting' })
        await this.#pause(isOut ? null : wait)
        if (!it.isStopped) this.#show(it, { state: 'running' })
      }
    }
  }

  #begin(work: Work<Kind>, isUndo: boolean): Promise<void> {
    this.#count += 1
    const total = work.batches.reduce((sum, batch) => sum + batch.count, 0)
    const { kind } = work
    const progress = { total, done: 0, failed: [], state: 'running' } as const
    const shown = { id: this.#count, kind, isUndo, ...progress, canUndo: work.undo !== null }
    const it: Listed<Kind> = { shown, work, isStopped: false, ended: Promise.withResolvers() }
    this.#listed.set(shown.id, it)
    this.#publish()
    void this.#bring(it)
    return it.ended.promise
  }

  async #bring(it: Listed<Kind>): Promise<void> {
    for (const batch of it.work.batches) {
      const failed = await this.#insist(it, batch)
      if (failed === null) break
      this.#show(it, {
        done: it.shown.done + batch.count - failed.length,
        failed: [...it.shown.failed, ...failed],
      })
    }
    if (!it.isStopped) this.#show(it, { state: 'over', canUndo: it.shown.canUndo && it.shown.done > 0 })
    it.ended.resolve()
  }
}
