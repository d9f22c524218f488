export const PAGE_DATA = 'page-data'

/** Of pages that need no account; null without any. Not validated: one build produced data and script. */
export function dataOf<Data>(page: Document): Data | null {
  return JSON.parse(page.getElementById(PAGE_DATA)?.textContent ?? 'null')
}
