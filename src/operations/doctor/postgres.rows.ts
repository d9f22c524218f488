import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'

export interface PostgresSettings {
  readonly fsync: string
  readonly full_page_writes: string
  readonly max_connections: string
  readonly autovacuum: string
  readonly version: string
  readonly nodes: number
  /** Milliseconds. */
  readonly now: number
}

export async function findPostgresSettings(db: Database): Promise<PostgresSettings | undefined> {
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
