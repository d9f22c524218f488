/** Throws TypeError unless http or https: `fetch` also reads files (`file:`) and inline content (`data:`, `blob:`). */
export function webAddress(address: string | URL, base?: string | URL): URL {
  const url = new URL(address, base)
  if (/^https?:$/.test(url.protocol)) return url
  throw new TypeError(`${url.protocol} is no address on the web`)
}
