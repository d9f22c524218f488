/** Addresses of PostgreSQL, as people write them. */

/** `prefer` and `allow` are left out: they go on without encryption when anybody on the way asks for that. */
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const

/** Null for what is no address. libpq leaves the host out where `?host=` names a socket; URL does not know that. */
export function postgresUrl(text: string): URL | null {
  const url = URL.parse(text) ?? URL.parse(text.replace('@/', '@localhost/'))
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) ? url : null
}

/** False for an address with an `sslmode` that is not known, or with `verify-ca` and no authority. */
export function isPostgresAddress(text: string): boolean {
  const url = postgresUrl(text)
  if (url === null || url.pathname.length < 2) return false
  if (URL.parse(text)?.hostname !== url.hostname && socketFolder(url) === null) return false
  if (url.hostname === '' && socketFolder(url) === null) return false
  const mode = url.searchParams.get('sslmode')
  if (mode === 'verify-ca' && !url.searchParams.has('sslrootcert')) return false
  return mode === null || MODES.some((known) => known === mode)
}

/** The folder of the Unix socket by which the address leads; null for one that leads over a network. */
export function socketFolder(url: URL): string | null {
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  return host.startsWith('/') ? host : null
}

/** Where it leads, for messages: a host with a port, or a socket. */
export function postgresPlace(url: URL): string {
  const port = url.port || url.searchParams.get('port') || '5432'
  const folder = socketFolder(url)
  return folder === null ? `${url.hostname}:${port}` : `${folder}/.s.PGSQL.${port}`
}
