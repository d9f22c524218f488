import type { StartAppTexts } from '../uploads/texts.ts'
import type { FilesTexts } from './texts.ts'

export interface FilesPageData {
  readonly locale: string
  readonly texts: FilesTexts
  readonly uploads: StartAppTexts
  /** Bytes per file. */
  readonly maxFileSize: number
  /** Without a trailing slash. */
  readonly publicUrl: string
}

export const FILES_APP = 'files-app'
