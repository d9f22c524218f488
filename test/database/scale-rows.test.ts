/** The rows that the benchmark of very many files writes by itself are rows as the product writes them. */
import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { databaseOf, type ScaleEngine, scaleHost } from '../../bench/scale/scale-hosts.ts'
import { wrongSums } from '../../src/contents/sums.ts'
import { createDatabase, whyNoPostgres } from '../support/databases/postgres.ts'

test('written to SQLite, they add up', () => addsUp((folder) => ({ name: 'SQLite', folder })))

test.if(whyNoPostgres() === null)('written to PostgreSQL, they add up', async () => {
  const { url: server, drop } = await createDatabase()
  const made = await addsUp((folder) => ({ name: 'PostgreSQL', folder, server }))
  const client = new Client({ connectionString: server })
  await client.connect()
  await client.query(`drop database ${new URL(made).pathname.slice(1)}`)
  await client.end()
  await drop()
})

/** Returns the URL of the database, if it has one. */
async function addsUp(engineIn: (folder: string) => ScaleEngine): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  try {
    const host = await scaleHost(engineIn(folder), { files: 2500, folders: 50 }, () => {})
    const { db, close } = await databaseOf(host)
    expect(await Array.fromAsync(wrongSums(db))).toEqual([])
    await close()
    return host.settings.DATABASE_URL ?? ''
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
