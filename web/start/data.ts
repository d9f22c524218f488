import type { StartAppTexts } from '../uploads/texts.ts'

/** What the server tells the script of the page, as JSON in `#page-data`. */
export interface StartPageData {
  readonly locale: string
  readonly texts: StartAppTexts
  readonly guestUploads: boolean
  readonly isSignedIn: boolean
  /** Bytes that one file may have. */
  readonly maxFileSize: number
  /** Of the page of an upload link; null on the start page. */
  readonly link: AskingLink | null
}

/** Id of the form of the place to drop files, which sends the fields above it too. */
export const ZONE = 'zone'

/** What an upload link asks whoever has it for. */
export interface AskingLink {
  readonly slug: string
  readonly fields: readonly AskedField[]
  /** For the chooser of files; null: any kind. */
  readonly accept: string | null
  /** Whether it takes no more. */
  readonly isFull: boolean
  /** How many files more it takes, from when the page came; null: no number is set. */
  readonly filesLeft: number | null
}

export interface AskedField {
  readonly name: string
  readonly label: string
  readonly isRequired: boolean
  readonly type: 'text' | 'email'
}

/** The element that the server renders and the script makes alive. */
export const START_APP = 'start-app'
