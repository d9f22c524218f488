import { type SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite'

/** Creates a missing file; applies the settings of all connections. */
export function openFile(path: string): SqliteFile {
  const file = new SqliteFile(path, { create: true, strict: true })
  file.run('PRAGMA busy_timeout = 10000')
  file.run('PRAGMA cache_size = -32768')
  file.run('PRAGMA temp_store = MEMORY')
  return file
}

export function openForReading(path: string): SqliteFile {
  const file = openFile(path)
  file.run('PRAGMA query_only = ON')
  return file
}

/** Small cache: scanned pages are in the system's page cache. */
export function openForScanning(path: string): SqliteFile {
  const file = openForReading(path)
  file.run('PRAGMA cache_size = -1024')
  return file
}

export function bindings(parameters: readonly unknown[]): readonly SQLQueryBindings[] {
  if (parameters.every(isBindable)) return parameters
  throw new TypeError(
    `a ${typeof parameters.find((value) => !isBindable(value))} cannot be bound to a statement`,
  )
}

function isBindable(value: unknown): value is null | string | number {
  return value === null || typeof value === 'string' || typeof value === 'number'
}
