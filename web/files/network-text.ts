import type { FilesTexts } from './texts.ts'

/** Why nobody answers, as far as the browser knows. */
export function networkText({ network, offline }: FilesTexts['problems']): string {
  return navigator.onLine ? network : offline
}

/** It cannot be said whether something was done. */
export function notReached({ dialogs }: FilesTexts): string {
  return navigator.onLine ? dialogs.notReached : dialogs.offline
}
