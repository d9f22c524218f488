import type { Database } from '../../database/database.ts'
import { missingMigrations } from '../../database/migrate.ts'
import { type Clock, MINUTE } from '../../domain/clock.ts'
import { advice, type Change, type Finding, fine, problem } from './findings.ts'
import { findPostgresSettings, type PostgresSettings } from './postgres.rows.ts'

/** Beyond this, nodes disagree about what has expired. */
const MAY_DIFFER = MINUTE

/** Whether it is at the program's version, and PostgreSQL keeps what it has promised. */
export async function checkDatabase(db: Database, isPostgres: boolean, clock: Clock): Promise<Finding[]> {
  const missing = await missingMigrations(db)
  const version =
    missing === 0
      ? fine('migrations', "the database is at this program's version")
      : problem(
          'migrations',
          `${missing} migrations wait`,
          'This program is newer than the server that has run on this database.',
          [{ where: 'shell', line: 'holdfast migrate' }],
        )
  if (!isPostgres) return [version]
  const asked = clock.now()
  const found = await findPostgresSettings(db)
  if (found === undefined) return [version]
  return [version, durability(found), vacuum(found), agreement(found.now - (asked + clock.now()) / 2)]
}

function durability({ fsync, full_page_writes: pages, version }: PostgresSettings): Finding {
  const off = Object.entries({ fsync, full_page_writes: pages }).filter(([, value]) => value !== 'on')
  if (off.length === 0) return fine('postgresql', `PostgreSQL ${version} syncs what it commits`)
  const changes: Change[] = off.map(([name]) => ({ where: 'postgresql.conf', line: `${name} = on` }))
  return problem(
    'postgresql',
    `PostgreSQL runs with ${off.map(([name, value]) => `${name} = ${value}`).join(' and ')}`,
    'A power cut can lose files whose uploads were answered, or the whole database.',
    changes,
  )
}

function vacuum({ autovacuum }: PostgresSettings): Finding {
  if (autovacuum === 'on') return fine('autovacuum', 'autovacuum is on')
  return advice('autovacuum', 'autovacuum is off', 'Lists and counters get slower from week to week.', [
    { where: 'postgresql.conf', line: 'autovacuum = on' },
  ])
}

function agreement(difference: number): Finding {
  const seconds = Math.round(Math.abs(difference) / 1000)
  if (Math.abs(difference) < MAY_DIFFER)
    return fine('database-clock', `its clock and this one differ by ${seconds} s`)
  return problem(
    'database-clock',
    `the clocks of PostgreSQL and of this machine differ by ${seconds} s`,
    'Nodes that disagree about the time take each other for dead, and links end too early or too late.',
    [{ where: 'shell', line: 'timedatectl set-ntp true' }],
  )
}
