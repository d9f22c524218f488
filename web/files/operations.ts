/**
 * What was asked for and changes something: it goes on until the server has said yes or no to all of it, however often
 * the network breaks on the way, and can be undone. Every batch may be sent twice: what was done already is done.
 */

/** A part of the work that is one request. */
export interface Batch {
  readonly count: number
  /** Resolves with what the server refused; rejects when it is not known whether it was done. */
  run(): Promise<readonly Failed[]>
}

/** What the server refused, by name, and its code. */
export interface Failed {
  readonly name: string
  readonly code: string
}

export interface Work<Kind> {
  readonly kind: Kind
  readonly batches: readonly Batch[]
  /** What takes it back; null when nothing can. */
  readonly undo: (() => Work<Kind>) | null
}

export interface Operation<Kind> {
  readonly id: number
  readonly kind: Kind
  readonly isUndo: boolean
  readonly total: number
  readonly done: number
  readonly failed: readonly Failed[]
  readonly canUndo: boolean
  /** `waiting`: nobody answered; it is tried again by itself. */
  readonly state: 'running' | 'waiting' | 'over'
}

export interface Operations<Kind> {
  /** The same object as long as nothing has changed. The latest is last. */
  snapshot(): readonly Operation<Kind>[]
  /** Returns what ends it. */
  subscribe(changed: () => void): () => void
  /** Resolves when it is over, one way or the other. */
  start(work: Work<Kind>): Promise<void>
  /** Tries at once what waits. */
  retry(): void
  /** Stops it where it is, and takes back what may have been done. */
  undo(id: number): Promise<void>
  /** The latest that can be, as long as it is on the list; none that came before one that has left it. */
  undoLast(): Promise<void>
  /** What these did cannot be taken back any more. */
  withdrawUndo(which: (kind: Kind) => boolean): void
  /** Takes it off the list. What is not over is not. */
  dismiss(id: number): void
}

interface Listed<Kind> {
  shown: Operation<Kind>
  readonly work: Work<Kind>
  isStopped: boolean
  readonly ended: PromiseWithResolvers<void>
}

/** Longest pause before what failed is tried again, milliseconds. */
const PATIENCE = 15_000

/** `later` calls it after so many milliseconds; what it returns calls that off. */
export function createOperations<Kind>(
  later: (act: () => void, wait: number) => () => void,
): Operations<Kind> {
  const listeners = new Set<() => void>()
  const listed = new Map<number, Listed<Kind>>()
  const waiting = new Set<() => void>()
  let count = 0
  /** The latest that has left the list and could have been taken back. */
  let left = 0
  let snapshot: readonly Operation<Kind>[] = []

  function publish(): void {
    snapshot = [...listed.values()].map(({ shown }) => shown)
    for (const changed of listeners) changed()
  }

  function show(it: Listed<Kind>, change: Partial<Operation<Kind>>): void {
    it.shown = { ...it.shown, ...change }
    publish()
  }

  /** Until it is time to try again. */
  function pause(wait: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        callOff()
        waiting.delete(end)
        resolve()
      }
      const callOff = later(end, wait)
      waiting.add(end)
    })
  }

  /** null when it was stopped. */
  async function insist(it: Listed<Kind>, batch: Batch): Promise<readonly Failed[] | null> {
    for (let wait = 1000; ; wait = Math.min(PATIENCE, wait * 2)) {
      if (it.isStopped) return null
      try {
        return await batch.run()
      } catch {
        if (it.isStopped) return null
        show(it, { state: 'waiting' })
        await pause(wait)
        if (!it.isStopped) show(it, { state: 'running' })
      }
    }
  }

  function begin(work: Work<Kind>, isUndo: boolean): Promise<void> {
    count += 1
    const total = work.batches.reduce((sum, batch) => sum + batch.count, 0)
    const shown: Operation<Kind> = {
      id: count,
      kind: work.kind,
      isUndo,
      total,
      done: 0,
      failed: [],
      canUndo: work.undo !== null,
      state: 'running',
    }
    const it: Listed<Kind> = { shown, work, isStopped: false, ended: Promise.withResolvers() }
    listed.set(shown.id, it)
    publish()
    void bring(it)
    return it.ended.promise
  }

  async function bring(it: Listed<Kind>): Promise<void> {
    for (const batch of it.work.batches) {
      const failed = await insist(it, batch)
      if (failed === null) break
      show(it, {
        done: it.shown.done + batch.count - failed.length,
        failed: [...it.shown.failed, ...failed],
      })
    }
    if (!it.isStopped) show(it, { state: 'over', canUndo: it.shown.canUndo && it.shown.done > 0 })
    it.ended.resolve()
  }

  async function undo(id: number): Promise<void> {
    const it = listed.get(id)
    if (it === undefined || it.work.undo === null || !it.shown.canUndo) return
    it.isStopped = it.shown.state !== 'over'
    listed.delete(id)
    // A request that is on its way would come after what takes it back.
    for (const end of [...waiting]) end()
    const back = it.work.undo()
    publish()
    await it.ended.promise
    await begin(back, true)
  }

  return {
    snapshot: () => snapshot,
    subscribe(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    start: (work) => begin(work, false),
    retry() {
      for (const end of [...waiting]) end()
    },
    undo,
    async undoLast() {
      const last = snapshot.findLast(({ canUndo, isUndo }) => canUndo && !isUndo)
      if (last !== undefined && last.id > left) await undo(last.id)
    },
    withdrawUndo(which) {
      for (const it of listed.values()) if (which(it.shown.kind)) show(it, { canUndo: false })
    },
    dismiss(id) {
      const shown = listed.get(id)?.shown
      if (shown?.state !== 'over') return
      if (shown.canUndo) left = Math.max(left, id)
      listed.delete(id)
      publish()
    },
  }
}
