import { describe, expect, test } from 'bun:test'
import { Client } from 'pg'
import { explain } from '../../../src/cli/failure.ts'
import { assertRecentPostgres, openPostgres, PostgresTooOld } from '../../../src/database/postgres.ts'
import { createDatabase, type TestDatabase, whyNoPostgres } from '../../support/databases/postgres.ts'

/** A way to the database on which its answers name another version of the same length. */
function claiming(to: URL, present: string, claimed: string) {
  const listener = Bun.listen<{ server: import('bun').Socket | null; early: Buffer[] }>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      async open(client) {
        client.data = { server: null, early: [] }
        client.data.server = await Bun.connect({
          hostname: to.hostname,
          port: Number(to.port || 5432),
          socket: {
            data(_, bytes) {
              client.write(Buffer.from(bytes.toString('latin1').replaceAll(present, claimed), 'latin1'))
            },
            close: () => void client.end(),
          },
        })
        for (const bytes of client.data.early) client.data.server.write(bytes)
      },
      data({ data }, bytes) {
        if (data.server === null) data.early.push(Buffer.from(bytes))
        else data.server.write(bytes)
      },
      close: ({ data }) => void data.server?.end(),
    },
  })
  const url = new URL(to)
  url.hostname = '127.0.0.1'
  url.port = String(listener.port)
  return { url: url.href, stop: () => listener.stop(true) }
}

async function versionOf({ url }: TestDatabase): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('show server_version_num')
  await client.end()
  return String(rows[0].server_version_num)
}

async function judged(url: string): Promise<unknown> {
  const db = openPostgres(url, { connections: 1, durable: true, report() {} })
  try {
    return await assertRecentPostgres(db).then(
      () => null,
      (error: unknown) => error,
    )
  } finally {
    await db.destroy()
  }
}

describe.skipIf(whyNoPostgres() !== null)('a PostgreSQL', () => {
  test('that is recent enough is taken', async () => {
    const database = await createDatabase()
    expect(await judged(database.url)).toBeNull()
    await database.drop()
  })

  test.each([
    ['120022', '12.22'],
    ['090624', '9.6.24'],
  ])('that says it is %s is refused, with its version and the one that is needed', async (claimed, shown) => {
    const database = await createDatabase()
    const way = claiming(new URL(database.url), await versionOf(database), claimed)
    const error = await judged(way.url)
    expect(error).toBeInstanceOf(PostgresTooOld)
    const said = explain(error, {})
    expect(said).toContain(`PostgreSQL ${shown} is too old`)
    expect(said).toContain('13 or newer')
    way.stop()
    await database.drop()
  })

  test('that is 13 is the first that is taken', async () => {
    const database = await createDatabase()
    const way = claiming(new URL(database.url), await versionOf(database), '130000')
    expect(await judged(way.url)).toBeNull()
    way.stop()
    await database.drop()
  })
})
