/** Without `prefer` and `allow`, which give up encryption when an attacker on the way asks. */
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const

/** libpq allows a missing host when `?host=` names a socket; URL does not. */
export function postgresUrl(text: string): URL | null {
  const url = URL.parse(text) ?? URL.parse(text.replace('@/', '@localhost/'))
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) ? url : null
}

/** False for an unknown `sslmode`, and for `verify-ca` without an authority. */
export function isPostgresAddress(text: string): boolean {
  const url = postgresUrl(text)
  if (url === null || url.pathname.length < 2) return false
  if (URL.parse(text)?.hostname !== url.hostname && socketFolder(url) === null) return false
  if (url.hostname === '' && socketFolder(url) === null) return false
  const mode = url.searchParams.get('sslmode')
  if (mode === 'verify-ca' && !url.searchParams.has('sslrootcert')) return false
  return mode === null || MODES.some((known) => known === mode)
}

export function socketFolder(url: URL): string | null {
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  return host.startsWith('/') ? host : null
}

export function postgresPlace(url: URL): string {
  const port = url.port || url.searchParams.get('port') || '5432'
  const folder = socketFolder(url)
  return folder === null ? `${url.hostname}:${port}` : `${folder}/.s.PGSQL.${port}`
}

/** Throws TypeError unless http or https: `fetch` also reads files (`file:`) and inline content (`data:`, `blob:`). */
export function webAddress(address: string | URL, base?: string | URL): URL {
  const url = new URL(address, base)
  if (/^https?:$/.test(url.protocol)) return url
  throw new TypeError(`${url.protocol} is no address on the web`)
}
