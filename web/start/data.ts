import type { StartAppTexts } from '../uploads/texts.ts'

/** What the server tells the script of the page, as JSON in `#page-data`. */
export interface StartPageData {
  readonly locale: string
  readonly texts: StartAppTexts
  readonly guestUploads: boolean
  /** Bytes that one file may have. */
  readonly maxFileSize: number
}

/** The element that the server renders and the script makes alive. */
export const START_APP = 'start-app'
