import { sql } from 'kysely'
import type { Config } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import { missingMigrations } from '../../database/migrate.ts'
import { type Clock, MINUTE } from '../../domain/clock.ts'
import { settings } from '../../settings.ts'
import { checkInOwnProcess } from '../database-check.ts'
import { advice, type Change, type Finding, fine, problem, reasonOf, say, unknown } from './findings.ts'

/** Beyond this, nodes disagree about what has expired. */
const MAY_DIFFER = MINUTE
/** For commands, and those that PostgreSQL reserves for superusers. */
const SPARE_CONNECTIONS = 5

export async function checkDatabase(db: Database, config: Config, clock: Clock): Promise<Finding[]> {
  const missing = await missingMigrations(db)
  const version =
    missing === 0
      ? fine('migrations', say`the database is at this program's version`)
      : problem(
          'migrations',
          say`${missing} migrations wait`,
          say`This program is newer than the server that has run on this database.`,
          [{ where: 'shell', line: 'holdfast migrate' }],
        )
  if (config.databaseUrl === null) return [version]
  const asked = clock.now()
  const found = await findPostgresSettings(db)
  if (found === undefined) return [version]
  return [
    version,
    durability(found),
    connections(found, config.databaseConnections),
    vacuum(found),
    agreement(found.now - (asked + clock.now()) / 2),
  ]
}

/** `unknown` after `within` milliseconds. */
export async function checkPages(config: Config, within = Number.POSITIVE_INFINITY): Promise<Finding[]> {
  if (config.databaseUrl !== null) return []
  const check = 'database-pages'
  const began = performance.now()
  try {
    const parts = await checkInOwnProcess(config, () => performance.now() - began < within)
    if (parts === null)
      return [unknown(check, say`reading all of it takes longer; run "holdfast check --database"`)]
    if (parts.length === 0) return [fine(check, say`every page of the database can be read`)]
    const names = parts.map(({ name, kind }) => (name === null ? kind : `${kind} ${name}`)).join(', ')
    const isLossless = parts.every(({ kind }) => kind !== 'table')
    return [
      problem(
        check,
        say`pages cannot be read: ${names}`,
        isLossless
          ? say`Nothing is lost yet: what is damaged can be made anew from the tables. Requests that need it are refused.`
          : say`Rows are lost, and requests that need them are refused.`,
        [
          {
            where: 'shell',
            line: 'stop the server and follow "The database is damaged" in docs/operations/disaster.md',
          },
        ],
      ),
    ]
  } catch (error) {
    return [unknown(check, say`${reasonOf(error)}`)]
  }
}

function durability({ fsync, full_page_writes: pages, version }: PostgresSettings): Finding {
  const off = Object.entries({ fsync, full_page_writes: pages }).filter(([, value]) => value !== 'on')
  if (off.length === 0) return fine('postgresql', say`PostgreSQL ${version} syncs what it commits`)
  const wrong = off.map(([name, value]) => `${name} = ${value}`).join(', ')
  const changes: Change[] = off.map(([name]) => ({ where: 'postgresql.conf', line: `${name} = on` }))
  return problem(
    'postgresql',
    say`PostgreSQL runs with ${wrong}`,
    say`A power cut can lose files whose uploads were answered, or the whole database.`,
    changes,
  )
}

function connections({ max_connections: text, nodes }: PostgresSettings, each: number): Finding {
  const check = 'connections'
  const most = Number(text) - SPARE_CONNECTIONS
  const servers = Math.max(1, nodes)
  const what =
    servers === 1
      ? say`one node uses up to ${each} of ${text} connections`
      : say`${servers} nodes use up to ${servers * each} of ${text} connections`
  if (servers * each <= most) return fine(check, what)
  return problem(check, what, say`When all are busy, some nodes get none, and answer 503.`, [
    { where: 'postgresql.conf', line: `max_connections = ${servers * each + SPARE_CONNECTIONS}` },
    {
      where: 'Holdfast',
      line: `${settings.databaseConnections.variable}=${Math.max(1, Math.floor(most / servers))}`,
    },
  ])
}

function vacuum({ autovacuum }: PostgresSettings): Finding {
  if (autovacuum === 'on') return fine('autovacuum', say`autovacuum is on`)
  return advice('autovacuum', say`autovacuum is off`, say`Lists and counters get slower from week to week.`, [
    { where: 'postgresql.conf', line: 'autovacuum = on' },
  ])
}

function agreement(difference: number): Finding {
  const seconds = Math.round(Math.abs(difference) / 1000)
  if (Math.abs(difference) < MAY_DIFFER)
    return fine('database-clock', say`its clock and this one differ by ${seconds} s`)
  return problem(
    'database-clock',
    say`the clocks of PostgreSQL and of this machine differ by ${seconds} s`,
    say`Nodes that disagree about the time take each other for dead, and links end too early or too late.`,
    [{ where: 'shell', line: 'timedatectl set-ntp true' }],
  )
}

interface PostgresSettings {
  readonly fsync: string
  readonly full_page_writes: string
  readonly max_connections: string
  readonly autovacuum: string
  readonly version: string
  readonly nodes: number
  /** Milliseconds. */
  readonly now: number
}

async function findPostgresSettings(db: Database): Promise<PostgresSettings | undefined> {
  const { rows } = await sql<PostgresSettings>`
    select current_setting('fsync') as fsync,
      current_setting('full_page_writes') as full_page_writes,
      current_setting('max_connections') as max_connections,
      current_setting('autovacuum') as autovacuum,
      current_setting('server_version') as version,
      (select count(*) from nodes)::int as nodes,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(db)
  return rows[0]
}
