import { createContext, useContext } from 'react'
import type { Words } from './words.ts'

/** What the pages of who is signed in say, whatever they are about. */
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
  readonly proof: ProofTexts
  /** It cannot be said whether it was done. */
  readonly notReached: string
  /** By the server's code. */
  readonly reasons: Readonly<Record<string, string>>
  /** {code} */
  readonly otherReason: string
}

/** What is said when somebody has to show once more that it is them. */
export interface ProofTexts {
  readonly title: string
  readonly why: string
  readonly password: string
  readonly confirm: string
  readonly passkey: string
  readonly passkeyFailed: string
  /** {name} */
  readonly other: string
  readonly waiting: string
  /** For who has none of these ways. */
  readonly none: string
}

/** What every part of such a page works with. */
export interface AppTools {
  readonly locale: string
  readonly texts: AppTexts
  readonly words: Words
  /** Shows what was done, and tells it to who listens. */
  say(text: string): void
  /** Asks for the sign-in once more; false when somebody thinks better of it. */
  prove(): Promise<boolean>
}

export const AppContext = createContext<AppTools | null>(null)

export function useApp(): AppTools {
  const tools = useContext(AppContext)
  if (tools === null) throw new Error('this is a part of an App')
  return tools
}
