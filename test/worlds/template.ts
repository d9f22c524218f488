/** A database with its tables and two accounts, made once for all worlds of a process. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AccountCaller } from '../../src/core/callers.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { systemTimers } from '../../src/domain/clock.ts'
import { chance } from '../support/chance.ts'
import { prepareDatabase } from './services.ts'
import { WorldTime } from './turns.ts'

export interface Template {
  readonly bytes: Uint8Array
  readonly accounts: readonly AccountCaller[]
}

let made: Promise<Template> | null = null

export function template(): Promise<Template> {
  made ??= make()
  return made
}

async function make(): Promise<Template> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
  try {
    const file = join(folder, 'holdfast.sqlite')
    const time = new WorldTime()
    const clock = { now: () => time.wall, monotonic: () => time.monotonic, timers: systemTimers }
    const own = chance(0)
    const db = openSqlite(file)
    const accounts = await prepareDatabase(db, clock, (length) => own.bytes(length))
    // The last connection moves the log into the file.
    await db.destroy()
    return { bytes: readFileSync(file), accounts }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
