import { askForAccount } from './own-account.ts'
import { PAGE_DATA } from './public-page-data.ts'

/** Also restricts the page's requests to its account. Not validated: one build produced data and script. */
export function readPageData<Data>(): Data {
  askForAccount(document.documentElement.dataset.account)
  return JSON.parse(document.getElementById(PAGE_DATA)?.textContent ?? 'null')
}
