import type { en } from '../../src/pages/texts/en.ts'

/** What the start page says once its script runs, and in its zone before; in the shape of the English. */
export type StartAppTexts = (typeof en)['start']['app']
export type ClaimTexts = StartAppTexts['claim']
