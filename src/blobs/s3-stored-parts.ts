import { assertInvariant } from '../domain/invariants.ts'
import type { StoredPart } from './s3-uploads.ts'

export function sizeOf(parts: readonly StoredPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0)
}

/** The parts of one object that the store has, by number from 1. They are stored in any order. */
export class StoredParts {
  readonly #parts: Map<number, StoredPart>

  /** `before`: the first parts, in order. */
  constructor(before: readonly StoredPart[]) {
    this.#parts = new Map(before.map((part, at) => [at + 1, part]))
  }

  add(number: number, part: StoredPart): void {
    this.#parts.set(number, part)
  }

  /** The parts up to the first gap, in order. */
  leading(): readonly StoredPart[] {
    const parts: StoredPart[] = []
    for (let number = 1; ; number++) {
      const part = this.#parts.get(number)
      if (part === undefined) return parts
      parts.push(part)
    }
  }

  /** All parts, in order: so many, with so many bytes. Throws InvariantViolated unless the store has exactly these. */
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
