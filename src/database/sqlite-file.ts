import { type SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite'

/** Opens the file, creating it if it is missing, with the settings that all connections share. */
export function openFile(path: string): SqliteFile {
  const file = new SqliteFile(path, { create: true, strict: true })
  file.run('PRAGMA busy_timeout = 10000')
  file.run('PRAGMA cache_size = -32768')
  file.run('PRAGMA temp_store = MEMORY')
  return file
}

/** Opens a read-only connection, which sees committed rows. */
export function openForReading(path: string): SqliteFile {
  const file = openFile(path)
  file.run('PRAGMA query_only = ON')
  return file
}

/** Opens a read-only connection with a small cache: scanned pages are in the system's page cache anyway. */
export function openForScanning(path: string): SqliteFile {
  const file = openForReading(path)
  file.run('PRAGMA cache_size = -1024')
  return file
}

/** Checks that SQLite accepts each parameter, and returns them. */
export function bindings(parameters: readonly unknown[]): readonly SQLQueryBindings[] {
  if (parameters.every(isBindable)) return parameters
  throw new TypeError(
    `a ${typeof parameters.find((value) => !isBindable(value))} cannot be bound to a statement`,
  )
}

function isBindable(value: unknown): value is null | string | number {
  return value === null || typeof value === 'string' || typeof value === 'number'
}
