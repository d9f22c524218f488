import type { en } from '../../src/pages/texts/en.ts'

/** What the file manager says, in the shape of the English. */
export type FilesTexts = (typeof en)['files']['app']
