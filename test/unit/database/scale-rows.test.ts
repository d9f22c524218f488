/** The rows that the benchmark of very many files writes by itself are rows as the product writes them. */
import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { scaleHost } from '../../../bench/scale.ts'
import { loadConfig } from '../../../src/config.ts'
import { wrongSums } from '../../../src/contents/sums.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { openDatabase } from '../../../src/storage.ts'
import { createDatabase, whyNoPostgres } from '../../support/databases/postgres.ts'

test('written to SQLite, they add up', async () => {
  await addsUp(null)
})

test.if(whyNoPostgres() === null)('written to PostgreSQL, they add up', async () => {
  const { url: server, drop } = await createDatabase()
  const made = await addsUp(server)
  const client = new Client({ connectionString: server })
  await client.connect()
  await client.query(`drop database ${new URL(made).pathname.slice(1)}`)
  await client.end()
  await drop()
})

/** Returns the URL of the database, if it has one. */
async function addsUp(server: string | null): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  try {
    const { settings } = await scaleHost(folder, server, 2500)
    const config = loadConfig(settings)
    const { db, close } = await openDatabase({
      config,
      clock: systemClock,
      random: systemRandom,
      report() {},
    })
    expect(await Array.fromAsync(wrongSums(db))).toEqual([])
    await close()
    return settings.HOLDFAST_DATABASE_URL ?? ''
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
