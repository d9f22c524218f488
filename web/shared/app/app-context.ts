import { createContext, useContext } from 'react'
import type { PasskeyPlaceTexts } from '../passkey-place.ts'
import type { Words } from '../words.ts'

export interface AppTexts {
  readonly cancel: string
  readonly close: string
  readonly save: string
  readonly retry: string
  readonly copy: string
  readonly copied: string
  readonly asTable: string
  readonly network: string
  readonly networkWhy: string
  readonly signedOut: string
  readonly signedOutWhy: string
  readonly signIn: string
  readonly showPassword: string
  readonly proof: ProofTexts
  /** For a request whose outcome is unknown. */
  readonly notReached: string
  readonly reasons: Readonly<Record<string, string>>
  /** {code} */
  readonly otherReason: string
}

export interface ProofTexts {
  readonly title: string
  readonly why: string
  readonly password: string
  readonly confirm: string
  readonly passkey: string
  readonly passkeyPlace: PasskeyPlaceTexts
  readonly passkeyFailed: string
  /** {name} */
  readonly other: string
  readonly waiting: string
  /** For an account without any of these methods. */
  readonly none: string
}

export interface AppTools {
  readonly locale: string
  readonly texts: AppTexts
  readonly words: Words
  /** Also announced to screen readers. */
  say(text: string): void
  /** Re-authenticates; false when cancelled. */
  prove(): Promise<boolean>
}

export const AppContext = createContext<AppTools | null>(null)

export function useApp(): AppTools {
  const tools = useContext(AppContext)
  if (tools === null) throw new Error('this is a part of an App')
  return tools
}
