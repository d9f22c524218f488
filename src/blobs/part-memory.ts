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
