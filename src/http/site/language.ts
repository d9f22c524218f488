import type { Language } from '../../domain/language.ts'
import type { Notice } from '../../domain/notice.ts'

/** Who reads a page, by what the browser says. */
export interface Reader {
  readonly language: Language
  /** For numbers and dates, a tag that Intl knows: `de-AT`. */
  readonly locale: string
  /** Who is signed in; null or left out: nobody. */
  readonly username?: string | null
  /** What the administrators tell everybody; null or left out: nothing. */
  readonly notice?: ShownNotice | null
  /** Whether that is an administrator. */
  readonly isAdmin?: boolean
  /** Whether there is a session that could not be looked up: nobody is told to sign in. */
  readonly isUnsure?: boolean
}

export type ShownNotice = Pick<Notice, 'text' | 'level'>

/** For readers of no language that we speak, or of one whose country is not told. */
const LOCALES = { en: 'en-GB', de: 'de-DE' } as const satisfies Record<Language, string>

/** By Accept-Language (RFC 9110): the first of the preferred languages that there are texts in, else English. */
export function readerOf(request: Request): Reader {
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

/** Language tags, the most wanted first. */
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
