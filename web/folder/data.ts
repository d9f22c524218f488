/** What the server tells the scripts of a folder's page: types alone, which both sides share. */

export interface FolderPageData {
  /** Directly in the folder. */
  readonly fileCount: number
  /** On earlier pages. */
  readonly filesBefore: number
  /** Style sheets of the viewer; null where files open on their pages alone. */
  readonly viewerStyles: readonly string[] | null
  readonly locale: string
  readonly texts: ViewerTexts
}

/** In the language of the page. */
export interface ViewerTexts {
  readonly viewer: string
  readonly close: string
  readonly previous: string
  readonly next: string
  /** {place}, {count} */
  readonly placeOf: string
  readonly download: string
  readonly share: string
  readonly linkCopied: string
  readonly copyFailed: string
  readonly details: string
  readonly failed: string
  readonly openPage: string
}
