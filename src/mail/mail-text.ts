import type { MailContent } from '../domain/mail-content.ts'

/** An item, or one with a list of its own. */
export type ListItem = string | { readonly text: string; readonly items: readonly string[] }

/** Text of a mail in one language. */
export interface MailText {
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

/** Context that the texts need besides the content. */
export interface MailTextContext {
  /** The public address without its scheme. */
  readonly host: string
  /** Returns the absolute address for a path. */
  readonly address: (path: string) => string
}

/** Implemented once per language. */
export type RenderMail = (content: MailContent, context: MailTextContext) => MailText
