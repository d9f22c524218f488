/** Synchronous: removal from IndexedDB may outlast the page, and the next would resume the upload. */
export interface CancelledMarks {
  has(keptId: string): boolean
  add(keptId: string): void
  remove(keptId: string): void
}

/** More are not cancelled in the moment before a page closes. */
const MOST = 500

export function createCancelledMarks(storage: Storage | null, window: string): CancelledMarks {
  const key = `holdfast-cancelled-${window}`

  function list(): readonly string[] {
    try {
      const parsed: unknown = JSON.parse(storage?.getItem(key) ?? '[]')
      return Array.isArray(parsed) ? parsed.filter((each) => typeof each === 'string') : []
    } catch {
      return []
    }
  }

  function save(ids: readonly string[]): void {
    try {
      if (ids.length === 0) storage?.removeItem(key)
      else storage?.setItem(key, JSON.stringify(ids.slice(-MOST)))
    } catch {
      // Storage failed: the next page may resume the upload, and it can be cancelled again.
    }
  }

  return {
    has: (keptId) => list().includes(keptId),
    add: (keptId) => save([...list().filter((each) => each !== keptId), keptId]),
    remove: (keptId) => save(list().filter((each) => each !== keptId)),
  }
}
