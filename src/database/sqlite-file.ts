import { type SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite'

/** Opens the file, making it when it is missing, with the settings that every connection of ours has. */
export function openFile(path: string): SqliteFile {
  const file = new SqliteFile(path, { create: true, strict: true })
  file.run('PRAGMA busy_timeout = 10000')
  file.run('PRAGMA cache_size = -32768')
  file.run('PRAGMA temp_store = MEMORY')
  return file
}

/** A connection that sees what is committed and can change nothing. */
export function openForReading(path: string): SqliteFile {
  const file = openFile(path)
  file.run('PRAGMA query_only = ON')
  return file
}

/** The same, which keeps hardly anything of what it has read: the system has it in memory too. */
export function openForScanning(path: string): SqliteFile {
  const file = openForReading(path)
  file.run('PRAGMA cache_size = -1024')
  return file
}

export function bindings(parameters: readonly unknown[]): SQLQueryBindings[] {
  return parameters.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number') return value
    throw new TypeError(`a ${typeof value} cannot be bound to a statement`)
  })
}
