/** Id of the element with the page's data as JSON. */
export const PAGE_DATA = 'page-data'

/** Data from the server for this page. Not validated, because the same build produced it. */
export function readPageData<Data>(): Data {
  return JSON.parse(document.getElementById(PAGE_DATA)?.textContent ?? 'null')
}
