import type { Letter } from '../domain/letter.ts'

/** A letter in words. */
export interface Wording {
  readonly subject: string
  /** Before the list and the link. */
  readonly paragraphs: readonly string[]
  readonly list?: { readonly items: readonly string[]; readonly more: string | null }
  readonly link?: { readonly label: string; readonly address: string }
  /** Behind them. */
  readonly rest: readonly string[]
  /** How to get no more of them. */
  readonly end?: { readonly label: string; readonly address: string }
}

/** What the words need besides the letter. */
export interface Surroundings {
  /** Where the account is: the public address without its scheme. */
  readonly host: string
  /** An absolute address for a path. */
  readonly address: (path: string) => string
}

/** One file for each language. */
export type Words = (letter: Letter, surroundings: Surroundings) => Wording
