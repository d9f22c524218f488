import type { MailContent } from '../domain/mail-content.ts'

export type ListItem = string | { readonly text: string; readonly items: readonly string[] }

export interface MailText {
  readonly subject: string
  readonly paragraphs: readonly string[]
  readonly list?: { readonly items: readonly ListItem[]; readonly more: string | null }
  readonly link?: { readonly label: string; readonly address: string }
  readonly rest: readonly string[]
  readonly end?: { readonly label: string; readonly address: string }
}

export interface MailTextContext {
  /** The public address without its scheme. */
  readonly host: string
  readonly address: (path: string) => string
}

export type RenderMail = (content: MailContent, context: MailTextContext) => MailText
