/** Memory for parts that all uploads share, beyond one part for each upload. */
export interface PartMemory {
  /** Takes so many bytes if they are free, and returns whether they were. */
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

/** The memory of one upload. */
export interface OwnMemory {
  /** Takes so many bytes if they are free, and returns whether they were. `due`: for the part that is always granted. */
  take(bytes: number, due: boolean): boolean
  give(bytes: number): void
}

export function ownMemory(memory: PartMemory): OwnMemory {
  /** Bytes of the upload, and how many of them count as shared. */
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
      // One part of what remains counts as the one that is always granted.
      const stillShared = Math.min(shared, Math.max(0, held - bytes))
      memory.give(shared - stillShared)
      shared = stillShared
    },
  }
}
