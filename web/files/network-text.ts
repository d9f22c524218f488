import { isSignedOut } from '../shared/session.ts'
import { fill } from '../shared/words.ts'
import type { FilesTexts } from './texts.ts'

export function networkText({ network, offline }: FilesTexts['problems']): string {
  return navigator.onLine ? network : offline
}

/** The request's outcome is unknown. */
function notReached({ dialogs }: FilesTexts): string {
  return navigator.onLine ? dialogs.notReached : dialogs.offline
}

/** Null when signed out, which the page already shows. */
export function failureText(error: unknown, texts: FilesTexts): string | null {
  return isSignedOut(error) ? null : notReached(texts)
}

export function reasonOf(code: string, { operations }: FilesTexts): string {
  return operations.reasons[code] ?? fill(operations.otherReason, { code })
}
