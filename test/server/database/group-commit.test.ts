import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { caller } from '../../support/clients/caller.ts'
import { holdSyncs } from '../../support/databases/held-syncs.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { startHoldfast } from '../../support/servers/holdfast.ts'
import { inputOutputError } from '../../support/storage/watched-disk.ts'

const MIB = 1024 * 1024

const neverLost = (error: unknown): never => {
  throw error
}

async function opened(lost = neverLost) {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const path = join(folder.path, 'test.sqlite')
  const db = stack.adopt(openSqlite(path, lost), (it) => it.destroy())
  await sql`create table numbers (number integer)`.execute(db)
  const all = stack.move()
  return { db, path, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

const insert = (db: Database, number: number) =>
  inTransaction(db, async (trx) => {
    await sql`insert into numbers values (${number})`.execute(trx)
  })

async function numbers(db: Database): Promise<number[]> {
  const query = sql<{ number: number }>`select number from numbers order by number`
  return (await db.read.rows(query.compile(db))).map(({ number }) => number)
}

/** Tells of each promise by its number as soon as it is settled. */
function settled(promises: readonly Promise<unknown>[]): number[] {
  const done: number[] = []
  for (const [number, promise] of promises.entries()) {
    promise.then(
      () => done.push(number),
      () => {},
    )
  }
  return done
}

test('a transaction ends when a sync that began after its commit has ended, and no sooner', async () => {
  await using database = await opened()
  const { db } = database
  using syncs = holdSyncs()
  const first = insert(db, 1)
  await eventually('the first commit is being synced', () => syncs.held === 1)
  const second = insert(db, 2)
  const done = settled([first, second])
  await eventually('both are committed', async () => (await numbers(db)).length === 2)
  expect(done).toEqual([])
  syncs.release()
  await first
  await eventually('the second commit is being synced', () => syncs.held === 1)
  expect(done).toEqual([0])
  syncs.release()
  await second
})

test('a statement without a transaction is waited for in the same way', async () => {
  await using database = await opened()
  const { db } = database
  using syncs = holdSyncs()
  const done = settled([sql`insert into numbers values (1)`.execute(db)])
  await eventually('it is being synced', () => syncs.held === 1)
  expect(await numbers(db)).toEqual([1])
  expect(done).toEqual([])
  syncs.release()
  await eventually('it has ended', () => done.length === 1)
})

test('one sync serves all transactions that wait', async () => {
  await using database = await opened()
  const { db } = database
  using syncs = holdSyncs()
  const many = Array.from({ length: 100 }, (_, number) => insert(db, number))
  await eventually('all are committed', async () => (await numbers(db)).length === 100)
  expect(syncs.asked).toBe(1)
  syncs.release()
  await eventually('the others are being synced', () => syncs.held === 1)
  syncs.release()
  await Promise.all(many)
  expect(syncs.asked).toBe(2)
})

test('a transaction that is rolled back waits too, for it may have read what others have committed', async () => {
  await using database = await opened()
  const { db } = database
  using syncs = holdSyncs()
  const first = insert(db, 1)
  await eventually('the commit is being synced', () => syncs.held === 1)
  const refused = inTransaction(db, async () => {
    throw new Error('there is a 1')
  })
  let isRefused = false
  refused.catch(() => {
    isRefused = true
  })
  await Bun.sleep(20)
  expect(isRefused).toBe(false)
  syncs.release()
  await first
  await expect(refused).rejects.toThrow('there is a 1')
})

test('a non-durable commit is not waited for, but before anything is told of it', async () => {
  await using database = await opened()
  const { db } = database
  using syncs = holdSyncs()
  await insert(db.nonDurable, 1)
  expect(syncs.asked).toBe(0)
  expect(await numbers(db)).toEqual([1])
  const durable = db.durable()
  expect(durable).not.toBeNull()
  await eventually('it is being synced', () => syncs.held === 1)
  syncs.release()
  await durable
  expect(db.durable()).toBeNull()
})

test('a sync that fails is the last one, and nothing that waited for it ends', async () => {
  const losses: unknown[] = []
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const db = openSqlite(join(folder.path, 'test.sqlite'), (error): never => {
    losses.push(error)
    throw new Error('the process would have ended')
  })
  using syncs = holdSyncs()
  const created = sql`create table numbers (number integer)`.execute(db)
  const done = settled([created])
  await eventually('it is being synced', () => syncs.held === 1)
  expect(() => syncs.fail(inputOutputError())).toThrow('the process would have ended')
  const later = settled([insert(db, 1)])
  await Bun.sleep(20)
  expect(losses).toEqual([expect.objectContaining({ code: 'EIO' })])
  expect([done, later, syncs.asked]).toEqual([[], [], 1])
})

test('an answer that tells of what somebody else has just committed waits until that is safe', async () => {
  await using stack = new AsyncDisposableStack()
  const holdfast = stack.adopt(await startHoldfast(), (it) => it.stop())
  const account = caller(holdfast.url, (await holdfast.addAccount()).apiKey)
  using syncs = holdSyncs()
  const making = account.createFolder('new')
  await eventually('the folder is being synced', () => syncs.held === 1)
  const asked = account.account()
  const done = settled([making, asked])
  await Bun.sleep(100)
  expect(done).toEqual([])
  syncs.release()
  await eventually('the answers are there', () => {
    syncs.release()
    return done.length === 2
  })
  expect(await asked).toMatchObject({ folders_count: 1 })
})

test('the log takes 16 MiB before it is copied into the file, and is then used anew', async () => {
  await using database = await opened()
  const { db, path } = database
  await sql`create table contents (content blob)`.execute(db)
  const sizes: number[] = []
  for (let commits = 0; commits < 40; commits++) {
    await inTransaction(db, async (trx) => {
      await sql`insert into contents values (zeroblob(${MIB}))`.execute(trx)
    })
    sizes.push(statSync(`${path}-wal`).size)
  }
  expect(sizes[14]).toBeGreaterThan(15 * MIB)
  expect(sizes.at(-1)).toBeLessThan(18 * MIB)
})
