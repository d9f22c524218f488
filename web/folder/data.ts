/** What the server tells the script of the page, as JSON in `#page-data`. */
export interface FolderPageData {
  readonly locale: string
}
