/** Sec-Fetch-Dest of answers that a browser runs, or that change a page. */
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

/** Pages may load scripts from this origin, so uploads must never be served as one. */
export function isScriptLikeRequest({ headers }: Request): boolean {
  return headers.get('sec-fetch-site') === 'same-origin' && RUNNING.has(headers.get('sec-fetch-dest') ?? '')
}
