import { assertInvariant } from '../domain/invariants.ts'
import type { StoredPart } from './s3-uploads.ts'

export function sizeOf(parts: readonly StoredPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0)
}

/** Numbered from 1, stored in any order. */
export class StoredParts {
  readonly #parts: Map<number, StoredPart>

  constructor(before: readonly StoredPart[]) {
    this.#parts = new Map(before.map((part, at) => [at + 1, part]))
  }

  add(number: number, part: StoredPart): void {
    this.#parts.set(number, part)
  }

  leading(): readonly StoredPart[] {
    const parts: StoredPart[] = []
    for (let number = 1; ; number++) {
      const part = this.#parts.get(number)
      if (part === undefined) return parts
      parts.push(part)
    }
  }

  /** Throws InvariantViolated unless the store has exactly so many parts, with so many bytes. */
  all(count: number, bytes: number): readonly StoredPart[] {
    const parts = this.leading()
    const known = this.#parts.size
    const hasNoGap = parts.length === count && known === count
    assertInvariant('parts-have-no-gap', hasNoGap, () => `${parts.length} of ${known}, ${count} sent`)
    const sum = sizeOf(parts)
    assertInvariant('parts-sum-to-total', sum === bytes, () => `${sum} bytes in parts, ${bytes} written`)
    return parts
  }
}
