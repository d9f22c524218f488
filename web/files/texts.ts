import type { en } from '../../src/pages/texts/en.ts'

export type FilesTexts = (typeof en)['files']['app']
