/** TLS of PostgreSQL connections, with libpq's meaning of `sslmode`. */
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { Refusal } from '../domain/errors.ts'
import { postgresUrl, socketFolder } from '../domain/postgres-address.ts'

const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const

export interface PostgresConnection {
  readonly connectionString: string
  readonly ssl: false | ConnectionOptions
}

/** Throws Refusal PRECONDITION_FAILED for an unreadable file. */
export function postgresConnection(text: string): PostgresConnection {
  const url = postgresUrl(text)
  // Only tests pass what no setting would.
  if (url === null) return { connectionString: text, ssl: false }
  const mode = url.searchParams.get('sslmode')
  const files: ConnectionOptions = {}
  for (const [name, option] of Object.entries(FILES)) {
    const path = url.searchParams.get(name)
    if (path !== null) files[option] = readNamed(name, path)
    url.searchParams.delete(name)
  }
  url.searchParams.delete('sslmode')
  const ssl = mode === null || mode === 'disable' || socketFolder(url) !== null ? false : tls(mode, files)
  return { connectionString: url.href, ssl }
}

function tls(mode: string, files: ConnectionOptions): ConnectionOptions {
  if (mode === 'verify-full') return files
  // Like libpq: "require" with an authority checks it.
  if (mode === 'verify-ca' || files.ca !== undefined)
    return { ...files, checkServerIdentity: () => undefined }
  return { ...files, rejectUnauthorized: false }
}

function readNamed(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Refusal(
      'PRECONDITION_FAILED',
      `the file that ${name} in HOLDFAST_DATABASE_URL names cannot be read: ${reason}`,
    )
  }
}
