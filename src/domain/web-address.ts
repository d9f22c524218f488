/**
 * The address, which a server has told, if it is one of http or https. Throws TypeError for any other: `fetch` also reads
 * files of this machine (`file:`), and what is in the address itself (`data:`, `blob:`).
 */
export function webAddress(address: string | URL, base?: string | URL): URL {
  const url = new URL(address, base)
  if (/^https?:$/.test(url.protocol)) return url
  throw new TypeError(`${url.protocol} is no address on the web`)
}
