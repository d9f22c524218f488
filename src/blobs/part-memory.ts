/** Memory that all uploads together may take beyond what each of them cannot do without. */
export interface PartMemory {
  /** Whether so many bytes were free; they are then taken. */
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

/** What one upload has of it, beyond what it cannot do without. */
export interface OwnMemory {
  /** Whether so many bytes were free; they are then taken. `due`: those that the upload may always have. */
  take(bytes: number, due: boolean): boolean
  give(bytes: number): void
}

export function ownMemory(memory: PartMemory): OwnMemory {
  /** How many bytes it has, and how many of them count against what all uploads share. */
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
      // What is left is first of all the one part that it may always have.
      const stillShared = Math.min(shared, Math.max(0, held - bytes))
      memory.give(shared - stillShared)
      shared = stillShared
    },
  }
}
