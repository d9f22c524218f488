/** What a build leaves behind in `dist/manifest.json`. Addresses are paths on the site, `/assets/<name>-<hash>.<ext>`. */
export interface Manifest {
  /** Of everything the build was made from. */
  readonly sources: Sources
  /** The module that renders pages on the server: a path in `dist`. */
  readonly renderer: string
  readonly assets: PageAssets
}

export interface Sources {
  /** Paths in the repository, sorted. */
  readonly files: readonly string[]
  /** SHA-256 over the files, see `src/pages/built-site.ts`. */
  readonly hash: string
}

export type ScriptedPage =
  | 'admin'
  | 'start'
  | 'file'
  | 'folder'
  | 'receipt'
  | 'files'
  | 'reference'
  | 'settings'
  | 'sign-in'

/** What pages load from this site. */
export interface PageAssets {
  /** The stylesheet of every page. */
  readonly style: string
  /** The module of every page that knows who is signed in, or that changes while it is open. */
  readonly script: string
  /** What one kind of page adds. */
  readonly pages: Readonly<Record<ScriptedPage, ScriptedPageAssets>>
  /** Modules for `new Worker(address, { type: 'module' })`, by folder and name: `file/pdf-worker`. */
  readonly workers: Readonly<Record<string, string>>
  /** The style sheet of the viewer, which is loaded when a file is opened over a folder's page. */
  readonly viewerStyle: string
  /** What lies in `web/static`, by name: `favicon.svg`. */
  readonly files: Readonly<Record<string, string>>
  /** What the addresses of pdf.js's own data begin with. */
  readonly pdfData: string
  /** The font of headings, for Latin letters. */
  readonly typeface: string
}

export interface ScriptedPageAssets {
  /** A module. */
  readonly script: string
  /** Modules that the script imports at once, to be fetched beside it. */
  readonly preloads: readonly string[]
  readonly style: string
}
