import type { AccountId } from '../../domain/ids.ts'
import type { Language } from '../../domain/language.ts'
import type { Notice } from '../../domain/notice.ts'

/** The reader of a page, according to the browser's headers and the session. */
export interface PageReader {
  readonly language: Language
  /** Locale for numbers and dates, a tag that Intl knows: `de-AT`. */
  readonly locale: string
  /** Name of the signed-in user; null or missing: anonymous. */
  readonly username?: string | null
  /** Account of the signed-in user; null or missing: anonymous. */
  readonly account?: AccountId | null
  /** Public address of the server, without a trailing slash. */
  readonly publicUrl?: string
  /** The displayed notice; null or missing: none. */
  readonly notice?: ShownNotice | null
  /** Whether the user is an administrator. */
  readonly isAdmin?: boolean
  /** Whether a session exists that could not be looked up, so that no link to sign in is shown. */
  readonly isUnsure?: boolean
}

export type ShownNotice = Pick<Notice, 'text' | 'level'>

/** Locales for readers without a supported language or a country. */
const LOCALES = { en: 'en-GB', de: 'de-DE' } as const satisfies Record<Language, string>

/** Chooses by Accept-Language (RFC 9110): the first preferred language that has texts, else English. */
export function readerOf(request: Request): PageReader {
  for (const tag of preferred(request.headers.get('accept-language') ?? '')) {
    const [, language = '', country] = /^([a-z]{2,3})(?:-[a-z]{4})?(?:-([a-z]{2}))?(?:-|$)/i.exec(tag) ?? []
    const spoken = language.toLowerCase()
    if (!isLanguage(spoken)) continue
    const locale = country === undefined ? LOCALES[spoken] : `${spoken}-${country.toUpperCase()}`
    return { language: spoken, locale }
  }
  return { language: 'en', locale: LOCALES.en }
}

function isLanguage(text: string): text is Language {
  return Object.hasOwn(LOCALES, text)
}

/** Language tags in order of preference. */
function preferred(header: string): string[] {
  return header
    .split(',')
    .slice(0, 32)
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((text) => text.trim())
      const quality = parameters.find((text) => /^q=/i.test(text))?.slice(2)
      return { tag, quality: quality === undefined ? 1 : Number(quality) || 0 }
    })
    .filter(({ tag, quality }) => tag !== '' && quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag)
}
