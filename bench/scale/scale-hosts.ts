/** Hosts with an account of a given size, generated once and kept in a folder for later runs. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { type Config, loadConfig } from '../../src/config.ts'
import { topFolder } from '../../src/core/accounts.rows.ts'
import type { Database } from '../../src/database/database.ts'
import { migrations } from '../../src/database/migrate.ts'
import { systemClock } from '../../src/domain/clock.ts'
import type { AccountId } from '../../src/domain/ids.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { openAdministration } from '../../src/operations/administration.ts'
import { openDatabase } from '../../src/storage.ts'
import type { ChildSettings } from '../../test/support/processes/child.ts'
import { type ScaleFacts, scaleData } from './scale-data.ts'
import { loadPostgres, loadSqlite } from './scale-load.ts'
import type { ScaleSize } from './scale-shape.ts'

/** Database engine, and the folder for its hosts. */
export type ScaleEngine =
  | { readonly name: 'SQLite'; readonly folder: string }
  /** `server`: URL of a user who may create databases. */
  | { readonly name: 'PostgreSQL'; readonly folder: string; readonly server: string }

export interface ScaleHost {
  readonly dataDir: string
  /** Settings for a server. */
  readonly settings: ChildSettings
  readonly account: AccountId
  readonly apiKey: string
  readonly facts: ScaleFacts
}

/** The host from an earlier run, or a new one. */
export async function scaleHost(
  engine: ScaleEngine,
  size: ScaleSize,
  say: (line: string) => void,
): Promise<ScaleHost> {
  const place = placeOf(engine, `${size.files}_${recipe()}`)
  const note = join(place.dataDir, 'scale.json')
  if (existsSync(note) && (await isThere(place))) return { ...place, ...read(note) }

  say(`making ${size.files} files in ${engine.name}`)
  const start = performance.now()
  await remove(place)
  mkdirSync(place.dataDir, { recursive: true })
  if (place.database !== null) await administer(place.database, `create database ${place.database.name}`)
  const config = configOf(place)
  const parts = { config, clock: systemClock, random: systemRandom }
  const administration = await openAdministration(parts, { mayBegin: true })
  const { id: account, apiKey } = await administration.accounts.add('scale')
  await administration.close()

  const { db, close } = await openDatabase({ ...parts, report() {} })
  const top = await topFolder(db, account)
  const { last } = await db
    .selectFrom('folders')
    .select((row) => row.fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  await close()
  const data = scaleData(size, { account, top, firstFolder: Number(last) + 1 }, systemClock.now())
  if (place.database === null) loadSqlite(join(place.dataDir, 'holdfast.sqlite'), account, top, data)
  else await loadPostgres(place.database.url, account, top, data)

  const made = { account, apiKey, facts: data.facts() }
  writeFileSync(note, JSON.stringify(made))
  say(`made in ${((performance.now() - start) / 1000).toFixed(0)} s`)
  return { ...place, ...made }
}

/** A copy of the host, to be modified and deleted. No server may be running on the original. */
export async function copyOf(
  engine: ScaleEngine,
  host: ScaleHost,
): Promise<ScaleHost & { remove(): Promise<void> }> {
  const place = placeOf(engine, 'copy')
  await remove(place)
  cpSync(host.dataDir, place.dataDir, { recursive: true })
  const { database } = place
  if (database !== null) {
    const original = new URL(host.settings.DATABASE_URL ?? '').pathname.slice(1)
    await administer(database, `create database ${database.name} template ${original}`)
    await administer({ ...database, server: database.url }, 'vacuum (analyze)')
  }
  return { ...host, ...place, remove: () => remove(place) }
}

/** A database connection besides the server's. */
export async function databaseOf(host: ScaleHost): Promise<{ db: Database; close(): Promise<void> }> {
  const config = configOf(host)
  return openDatabase({ config, clock: systemClock, random: systemRandom, report() {} })
}

interface PostgresDatabase {
  readonly server: string
  readonly name: string
  readonly url: string
}

interface HostPlace {
  readonly dataDir: string
  readonly settings: ChildSettings
  readonly database: PostgresDatabase | null
}

function placeOf(engine: ScaleEngine, name: string): HostPlace {
  const dataDir = join(engine.folder, `${engine.name.toLowerCase()}_${name}`)
  const limits = {
    RATE_LIMIT: '1000000000',
    STORAGE_LIMIT: '1000TB',
    // Long enough that files of a host generated weeks ago have not expired.
    INACTIVE_DAYS: '36500',
    // There are no bytes behind the rows.
    SCRUB_DAYS: '0',
  }
  if (engine.name === 'SQLite') return { dataDir, settings: limits, database: null }
  const url = new URL(engine.server)
  url.pathname = `/holdfast_scale_${name}`
  return {
    dataDir,
    settings: { ...limits, DATABASE_URL: url.href },
    database: { server: engine.server, name: url.pathname.slice(1), url: url.href },
  }
}

function configOf({ dataDir, settings }: Pick<HostPlace, 'dataDir' | 'settings'>): Config {
  const variables = Object.entries({ DATA_DIR: dataDir, ...settings })
  return loadConfig(Object.fromEntries(variables.map(([name, value]) => [`HOLDFAST_${name}`, value])))
}

/** Hash of everything that determines the content of a database, so that an outdated one is not reused. */
function recipe(): string {
  const files = ['data', 'load', 'names'].map((name) => join(import.meta.dir, `scale-${name}.ts`))
  const texts = [...files.map((file) => readFileSync(file, 'utf8')), JSON.stringify(migrations)]
  return Bun.hash(texts.join('\n')).toString(36)
}

function read(note: string): Pick<ScaleHost, 'account' | 'apiKey' | 'facts'> {
  return JSON.parse(readFileSync(note, 'utf8'))
}

async function isThere({ database }: HostPlace): Promise<boolean> {
  if (database === null) return true
  const found = await administer(database, `select 1 from pg_database where datname = '${database.name}'`)
  return found > 0
}

async function remove({ dataDir, database }: HostPlace): Promise<void> {
  rmSync(dataDir, { recursive: true, force: true })
  if (database !== null) await administer(database, `drop database if exists ${database.name} with (force)`)
}

/** Returns the number of rows of the result. */
async function administer({ server }: PostgresDatabase, statement: string): Promise<number> {
  const client = new Client({ connectionString: server })
  await client.connect()
  try {
    return (await client.query(statement)).rows.length
  } finally {
    await client.end()
  }
}
