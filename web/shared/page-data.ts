/** The id of the element that holds the data of the page as JSON. */
export const PAGE_DATA = 'page-data'

/** What the server has told this page; the same build wrote it, so that its shape is known. */
export function readPageData<Data>(): Data {
  return JSON.parse(document.getElementById(PAGE_DATA)?.textContent ?? 'null')
}
