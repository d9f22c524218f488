import type { BlobId } from '../../domain/ids.ts'

/** Second copies of contents, from which damaged ones are brought back. */
export interface SecondCopies {
  /**
   * Sees to it that a content whose bytes are damaged or missing in the store is brought back soon; false where there is no
   * second copy, or that is not possible. Never throws.
   */
  repair(content: BlobId): Promise<boolean>
}

/** Where no second copies are kept. */
export const noSecondCopies: SecondCopies = {
  repair: async () => false,
}
