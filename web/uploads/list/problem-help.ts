/** What a person can do about a problem of an upload. */
import { signInAddress } from '../../shared/sign-in-address.ts'
import type { StartAppTexts } from '../texts.ts'
import type { UploadProblem } from '../verdict.ts'

/** The others lack the file, or would fail again. */
export function canTryAgain({ kind }: UploadProblem): boolean {
  return [
    'account-full',
    'signed-out',
    'not-stored',
    'storage-refuses',
    'proxy',
    'refused',
    'link-no-space',
  ].includes(kind)
}

export interface Help {
  readonly label: string
  readonly href: string
  /** A new window leaves this one's uploads alone. */
  readonly target?: '_blank'
}

export function helpWith({ kind }: UploadProblem, texts: StartAppTexts): Help | null {
  if (kind === 'account-full') return { label: texts.seeStorage, href: '/settings' }
  if (kind === 'signed-out') return { label: texts.signIn, href: signInAddress(), target: '_blank' }
  return kind === 'guests-off' ? { label: texts.signIn, href: signInAddress() } : null
}
