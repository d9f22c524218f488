import { isSignedOut } from '../shared/session.ts'
import { fill } from '../shared/words.ts'
import type { FilesTexts } from './texts.ts'

/** Why nobody answers, as far as the browser knows. */
export function networkText({ network, offline }: FilesTexts['problems']): string {
  return navigator.onLine ? network : offline
}

/** It cannot be said whether something was done. */
function notReached({ dialogs }: FilesTexts): string {
  return navigator.onLine ? dialogs.notReached : dialogs.offline
}

/** What is said of a request that nobody refused; null after signing out, which stands on the page already. */
export function failureText(error: unknown, texts: FilesTexts): string | null {
  return isSignedOut(error) ? null : notReached(texts)
}

/** Why the server refused something. */
export function reasonOf(code: string, { operations }: FilesTexts): string {
  return operations.reasons[code] ?? fill(operations.otherReason, { code })
}
