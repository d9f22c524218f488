/** Inserts very many rows directly into a database, because a million uploads would take too long. */
import { Database as SqliteFile } from 'bun:sqlite'
import { Client } from 'pg'
import type { Row, ScaleData } from './scale-data.ts'

const TABLES = ['folders', 'blobs', 'files'] as const
const BATCH = 5000

/** Inserts rows and totals into the SQLite file of a host that has its account. */
export function loadSqlite(path: string, account: number, top: number, data: ScaleData): void {
  const file = new SqliteFile(path, { strict: true })
  try {
    // Neither durability nor a rollback is needed: an incomplete database is discarded. A log would be as large as the
    // database itself.
    for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -1000000']) {
      file.run(`PRAGMA ${pragma}`)
    }
    file.transaction(() => {
      const made = file
        .query<{ type: string; name: string; sql: string }, []>(
          `select type, name, sql from sqlite_master
           where type in ('index', 'trigger') and sql is not null and tbl_name in ('folders', 'blobs', 'files')`,
        )
        .all()
      for (const { type, name } of made) file.run(`drop ${type} ${name}`)
      for (const table of TABLES) {
        for (const rows of batches(data[table]())) insertSqlite(file, table, rows)
      }
      for (const { sql } of made) file.run(sql)
      file.run("insert into file_names (file_names) values ('rebuild')")
      for (const [text, values] of totals(account, top, data)) file.query(text).run(...values)
    })()
    file.run('PRAGMA journal_mode = WAL')
  } finally {
    file.close()
  }
}

function insertSqlite(file: SqliteFile, table: string, rows: readonly Row[]): void {
  const columns = Object.keys(rows[0] ?? {})
  const marks = columns.map(() => '?').join(', ')
  const insert = file.query(`insert into ${table} (${columns.join(', ')}) values (${marks})`)
  for (const row of rows) insert.run(...Object.values(row))
}

/** `loadSqlite` for PostgreSQL; ends with a vacuum, as autovacuum would run some minutes later. */
export async function loadPostgres(
  url: string,
  account: number,
  top: number,
  data: ScaleData,
): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'")
    // Indexes that enforce constraints are kept.
    const { rows: made } = await client.query<{ name: string; definition: string }>(`
      select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
      where indrelid in ('folders'::regclass, 'blobs'::regclass, 'files'::regclass)
        and not exists (select 1 from pg_constraint where conindid = indexrelid)`)
    for (const { name } of made) await client.query(`drop index ${name}`)
    for (const table of TABLES) {
      for (const rows of batches(data[table]())) {
        // The columns are named, so that all others have their defaults.
        const columns = Object.keys(rows[0] ?? {}).join(', ')
        await client.query(
          `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`,
          [JSON.stringify(rows)],
        )
      }
      await client.query(
        `select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`,
      )
    }
    for (const { definition } of made) await client.query(definition)
    for (const [text, values] of totals(account, top, data)) {
      let count = 0
      await client.query(
        text.replaceAll('?', () => `$${++count}`),
        values,
      )
    }
    await client.query('vacuum (analyze)')
    await client.query('checkpoint')
  } finally {
    await client.end()
  }
}

function* batches(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Updates for the totals of the account and its root folder, as statements with their values. */
function totals(account: number, top: number, { totals }: ScaleData): [string, number[]][] {
  const { files, bytes, folders, height } = totals
  return [
    [
      'update accounts set files_count = ?, storage_used = ?, folders_count = ? where id = ?',
      [files, bytes, folders, account],
    ],
    [
      'update folders set tree_files = ?, tree_bytes = ?, tree_folders = ?, tree_height = ? where id = ?',
      [files, bytes, folders, height, top],
    ],
  ]
}
