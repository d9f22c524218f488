import type { en } from './en.ts'

/**
 * All that the pages say, in one language, in the shape of the English. Texts are data, so that the browser may get them as
 * JSON: `{name}` is a place that `fill` of `web/shared/words.ts` puts a value in, and `Plural` a text that depends on a number.
 */
export type Texts = typeof en
export type CommonTexts = Texts['common']
export type AdminPageTexts = Texts['admin']
export type MailTexts = Texts['mail']
export type ReceiptTexts = Texts['receipt']
export type SettingsPageTexts = Texts['settings']
export type UploadLinkTexts = Texts['uploadLink']
