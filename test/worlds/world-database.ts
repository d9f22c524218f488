/** SQLite whose every step waits for its turn, and whose log may lose what was not synced. */
import { Database as SqliteFile } from 'bun:sqlite'
import { fstatSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseConnection, Dialect, Driver } from 'kysely'
import type { CommittedReader, Database, Reader } from '../../src/database/database.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import type { Chance } from '../support/chance.ts'
import type { Fault, TurnKind, Turns } from './turns.ts'

export interface WorldDatabase {
  readonly db: Database
  readonly file: string
  /** Bytes of the log that would survive a power cut. */
  synced(): number
  /** To be called after the end of the life. */
  close(): Promise<void>
}

const CODES = { io: 'SQLITE_IOERR', full: 'SQLITE_FULL', away: 'SQLITE_BUSY' } as const

function failureOf({ reason }: Fault): Error {
  return Object.assign(new Error(`the database failed: ${reason}`), { code: CODES[reason] })
}

/** Holds up for good what comes to its end although its life is over. */
async function unlessOver(turns: Turns): Promise<void> {
  if (turns.isOver) await new Promise(() => {})
}

export function openWorldDatabase(file: string, turns: Turns): WorldDatabase {
  const log = `${file}-wal`
  let synced = 0
  const waiting: (() => void)[] = []
  const turn = async (kind: TurnKind, what: string) => {
    const fault = await turns.turn(kind, what)
    if (fault?.when === 'before') throw failureOf(fault)
    return fault
  }
  const sync = (descriptor: number, done: () => void) => {
    const length = fstatSync(descriptor).size
    const end = () => {
      synced = Math.max(synced, length)
      done()
    }
    if (turns.isOver) return done()
    waiting.push(done)
    void turns.turn('db sync', '').then(() => {
      waiting.splice(waiting.indexOf(done), 1)
      end()
    })
  }
  const lost = (error: unknown): never => {
    throw error
  }
  const dialect = (own: Dialect): Dialect => ({
    createDriver: () => turningDriver(own.createDriver(), turn, () => unlessOver(turns)),
    createAdapter: () => own.createAdapter(),
    createQueryCompiler: () => own.createQueryCompiler(),
    createIntrospector: (db) => own.createIntrospector(db),
  })
  const db = openSqlite(file, lost, { dialect, sync })
  synced = statSync(log).size
  const { read, scan, durable: ownDurable } = db
  const durable = () => ownDurable()?.then(() => unlessOver(turns)) ?? null
  const turning = (reader: Reader): CommittedReader => ({
    gathersLookups: reader.gathersLookups,
    async rows(query) {
      const fault = await turn('db read', '')
      if (fault !== null) throw failureOf(fault)
      return reader.rows(query)
    },
    version: () => read.version(),
  })
  // The threads of the pool would answer in an order that is chance.
  Object.assign(db, { durable, read: turning(read), scan: turning(scan), readPool: turning(scan) })
  Object.assign(db.nonDurable, { read: turning(read), scan: turning(scan), readPool: turning(scan) })
  return {
    db,
    file,
    synced: () => synced,
    async close() {
      for (const done of waiting.splice(0)) done()
      await db.destroy()
    },
  }
}

type Turning = (kind: TurnKind, what: string) => Promise<Fault | null>

function turningDriver(own: Driver, turn: Turning, unlessIsOver: () => Promise<void>): Driver {
  return {
    init: () => own.init(),
    async acquireConnection(): Promise<DatabaseConnection> {
      const fault = await turn('db write', '')
      if (fault !== null) throw failureOf(fault)
      return own.acquireConnection()
    },
    beginTransaction: (connection, settings) => own.beginTransaction(connection, settings),
    async commitTransaction(connection) {
      const fault = await turn('db commit', '')
      await own.commitTransaction(connection)
      if (fault !== null) throw failureOf(fault)
    },
    rollbackTransaction: (connection) => own.rollbackTransaction(connection),
    async releaseConnection(connection) {
      await own.releaseConnection(connection)
      await unlessIsOver()
    },
    destroy: () => own.destroy(),
  }
}

/** A folder with a copy of a closed database. */
export function layDatabase(folder: string, bytes: Uint8Array): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'holdfast.sqlite')
  writeFileSync(file, bytes)
  return file
}

/**
 * What a kill leaves of the database, in another folder: all that was written, or after a power cut what was synced and
 * some of the rest. Its log is empty, so that from here on all of it is new.
 */
export function survivingDatabase(
  { file, synced }: WorldDatabase,
  folder: string,
  cut: Chance | null,
): { readonly file: string; readonly lost: number } {
  const copy = layDatabase(folder, readFileSync(file))
  const written = readFileSync(`${file}-wal`)
  writeFileSync(`${copy}-wal`, written)
  const length = cut === null ? written.length : cut.whole(synced(), written.length)
  truncateSync(`${copy}-wal`, length)
  const recovered = new SqliteFile(copy)
  recovered.run('PRAGMA wal_checkpoint(TRUNCATE)')
  recovered.close()
  return { file: copy, lost: written.length - length }
}
