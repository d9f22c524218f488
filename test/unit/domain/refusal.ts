import { Refusal } from '../../../src/domain/errors.ts'

/** What the call was refused with. Throws when it was not refused, or failed in another way. */
export function refusalOf(call: () => unknown): Refusal {
  try {
    call()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('the call was not refused')
}
