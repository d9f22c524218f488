/** What a browser calls the purpose of a request whose answer it is going to run, or to let change a page. */
const RUNNING: ReadonlySet<string> = new Set([
  'audioworklet',
  'paintworklet',
  'script',
  'serviceworker',
  'sharedworker',
  'style',
  'worker',
  'xslt',
])

/**
 * Whether a browser wants to run the answer in a page of this origin. Our pages may load scripts and styles from it, so
 * that what people upload must never be one, even if somebody found a way to write into a page.
 */
export function isScriptLikeRequest({ headers }: Request): boolean {
  return headers.get('sec-fetch-site') === 'same-origin' && RUNNING.has(headers.get('sec-fetch-dest') ?? '')
}
