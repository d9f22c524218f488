import { askForAccount } from './own-account.ts'

/** Id of the element with the page's data as JSON. */
export const PAGE_DATA = 'page-data'

/**
 * Data from the server for this page, which from then on asks for its account alone. Not validated, because the same build
 * produced it.
 */
export function readPageData<Data>(): Data {
  askForAccount(document.documentElement.dataset.account)
  return JSON.parse(document.getElementById(PAGE_DATA)?.textContent ?? 'null')
}
