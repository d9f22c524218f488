import type { en } from '../../src/pages/texts/en.ts'

export type StartAppTexts = (typeof en)['start']['app']
export type ClaimTexts = StartAppTexts['claim']
