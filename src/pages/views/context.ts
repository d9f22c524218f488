import type { PageAssets } from '../../../web/manifest.ts'
import type { Words } from '../../../web/shared/words.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Language } from '../../domain/language.ts'
import type { ShownNotice } from '../../server/requests/language.ts'
import type { Texts } from '../texts/texts.ts'

/** Rendering context of every page, besides its own view. */
export interface PageContext {
  readonly language: Language
  readonly texts: Texts
  readonly locale: string
  /** Formatters for numbers and dates in the locale. */
  readonly words: Words
  readonly assets: PageAssets
  /** Name of the signed-in user, or null. */
  readonly username: string | null
  /** Account of the signed-in user, or null. */
  readonly account: AccountId | null
  /** Public address of the server, without a trailing slash; null where it does not matter. */
  readonly publicUrl: string | null
  /** The displayed notice, or null. */
  readonly notice: ShownNotice | null
  /** Whether the user is an administrator. */
  readonly isAdmin: boolean
  /** Whether a session may exist that could not be looked up. */
  readonly isUnsure: boolean
}
