import { RequestFailure } from '../uploads/answers.ts'

/** Whether the server took the page's account for signed out when it was last asked. */
let isOver = false
const listeners = new Set<() => void>()

export const isSessionOver = (): boolean => isOver

/** Returns what ends it. */
export function watchSession(changed: () => void): () => void {
  listeners.add(changed)
  return () => listeners.delete(changed)
}

/** Notes what the answer to a request says of the session. */
export function noteSession(isOverNow: boolean): void {
  if (isOver === isOverNow) return
  isOver = isOverNow
  for (const changed of listeners) changed()
}

const SIGNED_OUT: readonly unknown[] = ['NOT_SIGNED_IN', 'INVALID_API_KEY', 'ACCOUNT_DISABLED']

/** Whether the server refused a request because its session has ended. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof RequestFailure && SIGNED_OUT.includes(error.answer?.code)
}
