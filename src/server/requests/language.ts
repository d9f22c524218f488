import type { AccountId } from '../../domain/ids.ts'
import type { Language } from '../../domain/language.ts'
import type { Notice } from '../../domain/notice.ts'

export interface PageReader {
  readonly language: Language
  /** For Intl: `de-AT`. */
  readonly locale: string
  readonly username?: string | null
  readonly account?: AccountId | null
  /** Without a trailing slash. */
  readonly publicUrl?: string
  readonly notice?: ShownNotice | null
  readonly isAdmin?: boolean
  /** A session could not be looked up, so no link to sign in is shown. */
  readonly isUnsure?: boolean
}

export type ShownNotice = Pick<Notice, 'text' | 'level'>

/** Without a supported language or a country. */
const LOCALES = { en: 'en-GB', de: 'de-DE' } as const satisfies Record<Language, string>

/** First language of Accept-Language (RFC 9110) that has texts, else English. */
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
