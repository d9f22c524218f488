import { AsyncLocalStorage } from 'node:async_hooks'
import { isDatabaseFailure } from '../database/differences.ts'
import { Refusal } from '../domain/errors.ts'

/** Where better-auth answers with a failure of its own for whatever went wrong, it writes what it was to its log. */
const hidden = new AsyncLocalStorage<unknown[]>()

/** To be called with what better-auth logs. */
export function noteHidden(error: unknown): void {
  hidden.getStore()?.push(error)
}

/** Does the work. What fails by a Refusal of ours or by the database fails by that, whatever better-auth makes of it. */
export async function unhidden<T>(work: () => Promise<T>): Promise<T> {
  const noted: unknown[] = []
  try {
    return await hidden.run(noted, work)
  } catch (error) {
    throw noted.find((each) => each instanceof Refusal || isDatabaseFailure(each)) ?? error
  }
}
