import type { en } from './en.ts'

/** Data, so that browsers may get them as JSON: `fill` of `web/shared/words.ts` replaces `{name}`. */
export type Texts = typeof en
export type CommonTexts = Texts['common']
export type AdminPageTexts = Texts['admin']
export type MailTexts = Texts['mail']
export type ReceiptTexts = Texts['receipt']
export type SettingsPageTexts = Texts['settings']
export type UploadLinkTexts = Texts['uploadLink']
