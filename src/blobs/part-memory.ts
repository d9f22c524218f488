export interface PartMemory {
  /** Returns false when there is not enough. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export function partMemory(limit: number): PartMemory {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > limit) return false
      taken += bytes
      return true
    },
    give(bytes) {
      taken -= bytes
    },
  }
}

export interface OwnMemory {
  /** As `PartMemory.take`. `due`: for the part that is always granted. */
  take(bytes: number, due: boolean): boolean
  give(bytes: number): void
}

export function ownMemory(memory: PartMemory): OwnMemory {
  let held = 0
  let shared = 0
  return {
    take(bytes, due) {
      if (!due) {
        if (!memory.take(bytes)) return false
        shared += bytes
      }
      held += bytes
      return true
    },
    give(bytes) {
      held -= bytes
      // One remaining part counts as the one always granted.
      const stillShared = Math.min(shared, Math.max(0, held - bytes))
      memory.give(shared - stillShared)
      shared = stillShared
    },
  }
}
