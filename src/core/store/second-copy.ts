import type { BlobId } from '../../domain/ids.ts'

export interface SecondCopies {
  /** Schedules the repair of damaged or missing bytes; false without a usable second copy. Never throws. */
  repair(content: BlobId): Promise<boolean>
}

export const noSecondCopies: SecondCopies = {
  repair: async () => false,
}
