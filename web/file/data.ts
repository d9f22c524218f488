/** What the server tells the scripts of a file's page: types alone, which both sides share. */

import type { Plural } from '../shared/words.ts'

/** How a file is shown. What has no kind gets its icon. */
export type PreviewKind =
  | 'image'
  | 'video'
  | 'audio'
  | 'pdf'
  | 'text'
  | 'code'
  | 'markdown'
  | 'table'
  | 'archive'

export interface FilePageData {
  readonly locale: string
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Lower-case hexadecimal. */
  readonly sha256: string
  readonly downloadUrl: string
  /** A picture of the file that every browser shows, or null. */
  readonly pictureUrl: string | null
  readonly preview: {
    readonly kind: PreviewKind
    /** Whether the page shows a smaller picture of it at first. */
    readonly isSmaller: boolean
    /** Signed address of the bytes. For kinds that scripts read, it answers ranges without sending them elsewhere. */
    readonly url: string
    /** Address that shows a text or source code as plain text; null for other kinds. */
    readonly rawUrl: string | null
  } | null
  /** Where the parts lie that run in a worker, and what pdf.js loads when a document asks for it. */
  readonly parts: FilePageParts
  readonly texts: FileScriptTexts
}

export interface FilePageParts {
  readonly codeWorker: string
  readonly markdownWorker: string
  readonly hashWorker: string
  readonly pdfWorker: string
  /** Where the names of pdf.js's data are put behind. */
  readonly pdfData: string
}

/** What the page's scripts say, in the language of the page. */
export interface FileScriptTexts {
  readonly previousFile: string
  readonly nextFile: string
  readonly previewFailed: string
  readonly downloadInstead: string
  readonly cannotPlay: string
  readonly empty: string
  readonly binary: string
  /** {shown}, {size} */
  readonly shownPart: string
  /** {lines} */
  readonly firstLines: string
  readonly wrapLines: string
  readonly showMore: string
  readonly search: string
  readonly notFound: string
  readonly raw: string
  /** {line} */
  readonly line: string
  /** {rows} */
  readonly firstRows: string
  /** {rows} */
  readonly sortedRows: string
  /** {rows}, {columns} */
  readonly firstRowsAndColumns: string
  /** {shown}, {total} */
  readonly firstEntries: string
  readonly entries: Plural
  readonly entryName: string
  readonly entrySize: string
  readonly noEntries: string
  /** {shown}, {total} */
  readonly firstPages: string
  /** {page}, {pages} */
  readonly pageOf: string
  readonly locked: string
  readonly zoomIn: string
  readonly zoomOut: string
  readonly zoomFit: string
  readonly speed: string
  readonly hashing: string
  readonly match: string
  readonly mismatch: string
  /** {chosen}, {size} */
  readonly otherSize: string
  readonly unreadable: string
  readonly picture: string
  /** {size} */
  readonly original: string
  readonly originalComing: string
  readonly originalFailed: string
  readonly smallerPicture: string
}
