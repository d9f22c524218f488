/** Only a bug can violate these. */
export const INVARIANTS = {
  'reservation-not-negative': 'an upload writes and gives back no more bytes than were reserved for it',
  'offset-is-sum-of-appends': 'the offset of an upload is the number of bytes that its appends have brought',
  'synced-grows-up-to-written':
    'the synced bytes of a file only grow, and end where its written bytes do or before',
  'file-size-is-position': 'a file is as long as all bytes that were written to it',
  'kept-is-written': 'the bytes that a session keeps are all that were written',
  'parts-have-no-gap': 'the store has every part of an object, numbered from 1',
  'parts-sum-to-total': 'the parts of an object are as long as all bytes that were written to it',
  'object-size-is-total': 'an object is as long as all bytes that were written to it',
  'account-is-locked': 'the totals of an account change under its lock',
  'accounts-are-locked-in-order': 'a transaction locks accounts in the order of their ids',
} as const

export type Invariant = keyof typeof INVARIANTS

export class InvariantViolated extends Error {
  override readonly name = 'InvariantViolated'

  constructor(
    readonly invariant: Invariant,
    details: string,
  ) {
    super(`${invariant}: ${INVARIANTS[invariant]} (${details})`)
  }
}

export function assertInvariant(invariant: Invariant, holds: boolean, details: () => string): void {
  if (!holds) throw new InvariantViolated(invariant, details())
}
