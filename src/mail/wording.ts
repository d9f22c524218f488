import type { Letter } from '../domain/letter.ts'

/** An item, or one with a list of its own. */
export type ListItem = string | { readonly text: string; readonly items: readonly string[] }

/** A letter in words. */
export interface Wording {
  readonly subject: string
  /** Text before the list and the link. */
  readonly paragraphs: readonly string[]
  readonly list?: { readonly items: readonly ListItem[]; readonly more: string | null }
  readonly link?: { readonly label: string; readonly address: string }
  /** Text after the list and the link. */
  readonly rest: readonly string[]
  /** Link that unsubscribes. */
  readonly end?: { readonly label: string; readonly address: string }
}

/** Context that the words need besides the letter. */
export interface Surroundings {
  /** The public address without its scheme. */
  readonly host: string
  /** Returns the absolute address for a path. */
  readonly address: (path: string) => string
}

/** Implemented once per language. */
export type MailWords = (letter: Letter, surroundings: Surroundings) => Wording
