import type { FilesTexts } from '../texts.ts'

/** Why nobody answers, as far as the browser knows. */
export function networkText({ network, offline }: FilesTexts['problems']): string {
  return navigator.onLine ? network : offline
}
