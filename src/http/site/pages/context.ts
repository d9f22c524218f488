import type { PageAssets } from '../../../../web/manifest.ts'
import type { Words } from '../../../../web/shared/words.ts'
import type { Language } from '../../../domain/language.ts'
import type { ShownNotice } from '../language.ts'
import type { Texts } from '../texts/texts.ts'

/** What every page is rendered with, besides what it shows. */
export interface PageContext {
  readonly language: Language
  readonly texts: Texts
  readonly locale: string
  /** Numbers and dates in the locale. */
  readonly words: Words
  readonly assets: PageAssets
  /** Who is signed in, or null. */
  readonly username: string | null
  /** What the administrators tell everybody, or null. */
  readonly notice: ShownNotice | null
  /** Whether that is an administrator. */
  readonly isAdmin: boolean
  /** Whether somebody may be signed in whose session could not be looked up. */
  readonly isUnsure: boolean
}
