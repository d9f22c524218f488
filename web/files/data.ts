import type { StartAppTexts } from '../uploads/texts.ts'
import type { FilesTexts } from './texts.ts'

/** What the server tells the script of the page, as JSON in `#page-data`. */
export interface FilesPageData {
  readonly locale: string
  readonly texts: FilesTexts
  readonly uploads: StartAppTexts
  /** Bytes that one file may have. */
  readonly maxFileSize: number
  /** The public address, without a trailing slash. */
  readonly publicUrl: string
}

/** The element that the script fills. */
export const FILES_APP = 'files-app'
