import type { Accent } from './accent.ts'
import { parseDisplayName } from './account.ts'
import { Refusal } from './errors.ts'
import { isLongerThan } from './text.ts'

/** Name of the site where its operator gives it none. */
export const PRODUCT = 'Holdfast'

/** Pages that laws ask for, linked at the foot of every page once they have a text. */
export const LEGAL_PAGES = ['imprint', 'privacy', 'terms'] as const
export type LegalPage = (typeof LEGAL_PAGES)[number]

export function parseLegalPage(text: string): LegalPage | null {
  return LEGAL_PAGES.find((page) => page === text) ?? null
}

/** Hash of the logo's bytes, by which its address changes, and its size in pixels. */
export interface Logo {
  readonly hash: string
  readonly width: number
  readonly height: number
}

export function logoPath({ hash }: Logo): string {
  return `/branding/logo-${hash}.webp`
}

/** What pages show of the operator's own. */
export interface ShownBranding {
  readonly name: string
  readonly accent: Accent | null
  readonly logo: Logo | null
  /** Markdown. */
  readonly startText: string | null
  readonly legal: readonly LegalPage[]
}

export const UNBRANDED: ShownBranding = {
  name: PRODUCT,
  accent: null,
  logo: null,
  startText: null,
  legal: [],
}

export const MAX_SITE_NAME = 40
export const MAX_START_TEXT = 1000
export const MAX_LEGAL_TEXT = 50_000

/** Like an account's display name, and shorter. Null for an empty one. Throws Refusal. */
export function parseSiteName(text: string): string | null {
  const name = parseDisplayName(text)
  if (name !== null && isLongerThan(name, MAX_SITE_NAME)) throw tooLong('name', MAX_SITE_NAME)
  return name
}

/** Null unless `parseSiteName` accepts it. */
export function siteNameOrNull(text: string): string | null {
  try {
    return parseSiteName(text)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/** Null for an empty text. Throws Refusal INVALID_REQUEST. */
export function parseMarkdown(text: string, field: string, most: number): string | null {
  if (isLongerThan(text, most)) throw tooLong(field, most)
  // Other control characters have no meaning, and PostgreSQL does not store NUL.
  const kept = text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
  return kept.trim() === '' ? null : kept.trim()
}

function tooLong(field: string, most: number): Refusal {
  return new Refusal('INVALID_REQUEST', `"${field}": may have ${most} characters at most`)
}
