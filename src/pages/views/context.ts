import type { PageAssets } from '../../../web/manifest.ts'
import type { Words } from '../../../web/shared/words.ts'
import type { Language } from '../../domain/account.ts'
import type { ShownBranding } from '../../domain/branding.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { ShownNotice } from '../../server/requests/browser.ts'
import type { Texts } from '../texts/texts.ts'

export interface PageContext {
  readonly language: Language
  readonly texts: Texts
  readonly locale: string
  readonly words: Words
  readonly assets: PageAssets
  readonly username: string | null
  readonly account: AccountId | null
  /** Without a trailing slash; null where it does not matter. */
  readonly publicUrl: string | null
  readonly notice: ShownNotice | null
  readonly isAdmin: boolean
  readonly branding: ShownBranding
  /** A session may exist that could not be looked up. */
  readonly isUnsure: boolean
}
