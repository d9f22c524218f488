import { RequestFailure } from '../uploads/answers.ts'

let isOver = false
const listeners = new Set<() => void>()

export const isSessionOver = (): boolean => isOver

export function watchSession(changed: () => void): () => void {
  listeners.add(changed)
  return () => listeners.delete(changed)
}

export function noteSession(isOverNow: boolean): void {
  if (isOver === isOverNow) return
  isOver = isOverNow
  for (const changed of listeners) changed()
}

const SIGNED_OUT: readonly unknown[] = ['NOT_SIGNED_IN', 'INVALID_API_KEY', 'ACCOUNT_DISABLED']

export function isSignedOut(error: unknown): boolean {
  return error instanceof RequestFailure && SIGNED_OUT.includes(error.answer?.code)
}
