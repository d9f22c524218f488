import type { adminEn } from '../../src/pages/texts/admin-en.ts'

/** What administration says, in the shape of the English. */
export type AdminTexts = (typeof adminEn)['app']
