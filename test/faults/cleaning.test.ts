import { describe, expect, test } from 'bun:test'
import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { StoreFailure } from '../../src/blobs/blob-store.ts'
import { discardBlob } from '../../src/core/blobs.rows.ts'
import { createStoreHealth } from '../../src/core/store/store-health.ts'
import { inTransaction } from '../../src/database/transactions.ts'
import type { BlobKey, Sha256 } from '../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../src/domain/random.ts'
import { api, refusal } from '../support/clients/api.ts'
import { visit } from '../support/clients/public.ts'
import { adoptBlob } from '../support/contents/account-with-file.ts'
import { startHoldfast } from '../support/servers/holdfast.ts'
import { buildParts, type TestParts } from '../support/servers/parts.ts'
import { finishedBlobs } from '../support/storage/blob-folder.ts'
import { overridden } from '../support/storage/overridden.ts'

const GRACE_IS_OVER = 2 * 60_000

describe('purging', () => {
  test('releases the blob of a removed file once, also when two purges have the same file', async () => {
    await using parts = await buildParts()
    const { cleaning, removals, caller } = parts
    const gone = await parts.store('hello', 'gone.txt')
    const kept = [await parts.store('hello', 'kept.txt'), await parts.store('hello', 'kept too.txt')]
    await removals.files(caller, [{ kind: 'id', id: gone.id }])

    await Promise.all([cleaning.purge([gone.id]), cleaning.purge([gone.id]), cleaning.purgeDeleted()])
    await cleaning.purge([gone.id])
    expect(await uses(parts)).toEqual([2])
    await removeGarbage(parts)
    expect(finishedBlobs(parts.folder)).toHaveLength(1)

    await removals.files(
      caller,
      kept.map(({ id }) => ({ kind: 'id', id })),
    )
    await Promise.all([cleaning.purgeDeleted(), cleaning.purgeDeleted()])
    expect(await uses(parts)).toEqual([])
    await removeGarbage(parts)
    expect(finishedBlobs(parts.folder)).toEqual([])
  })

  test('takes no file that is alive', async () => {
    await using parts = await buildParts()
    const { id } = await parts.store('hello', 'alive.txt')
    await parts.cleaning.purge([id])
    await parts.cleaning.purgeDeleted()
    expect(await uses(parts)).toEqual([1])
    expect(await parts.db.selectFrom('files').select('id').execute()).toEqual([{ id }])
  })
})

test('contents of one hash and two sizes are two blobs', async () => {
  await using parts = await buildParts()
  const sha256 = 'a'.repeat(64) as Sha256
  const adopt = (size: number) =>
    inTransaction(parts.db, (trx) =>
      adoptBlob(trx, { key: makeBlobKey(systemRandom), sha256, crc32: 0, size, created_at: 0 }, 0),
    )
  const ids = [await adopt(1), await adopt(2), await adopt(1)]
  expect(ids[1]).not.toBe(ids[0])
  expect(ids[2]).toBe(ids[0])
  expect(await uses(parts)).toEqual([2, 1])
  expect(await garbage(parts)).toHaveLength(1)
})

describe('a blob that cannot be removed', () => {
  test.each([1, 60])('does not keep other garbage from going, where there are %d of them', async (count) => {
    await using parts = await buildParts()
    const blobs = join(parts.folder, 'blobs')
    // What is due first, and cannot go: `remove` takes files and no folders.
    const stuck = Array.from({ length: count }, (_, number) => keyOf('00', number))
    for (const key of stuck) mkdirSync(join(blobs, '00', key))
    const others = Array.from({ length: 120 }, (_, number) => keyOf('11', number))
    for (const key of others) await Bun.write(join(blobs, '11', key), 'garbage')
    await inTransaction(parts.db, async (trx) => {
      for (const key of stuck) await discardBlob(trx, key, 1)
      for (const key of others) await discardBlob(trx, key, 2)
    })

    // Several runs may be needed; what matters is that they get there.
    for (let run = 0; run < 5; run++) await parts.cleaning.removeGarbage()
    expect(finishedBlobs(parts.folder)).toHaveLength(count)
    expect(await garbage(parts)).toHaveLength(count)
    expect(parts.reported.length).toBeGreaterThanOrEqual(count)

    for (const key of stuck) rmdirSync(join(blobs, '00', key))
    await removeGarbage(parts)
    expect(await garbage(parts)).toEqual([])
  })
})

describe('a broken store', () => {
  test('is found out by the probe, takes no uploads, and takes them again once it has recovered', async () => {
    await using stack = new AsyncDisposableStack()
    const holdfast = stack.adopt(await startHoldfast(), (server) => server.stop())
    const account = api(holdfast, (await holdfast.addAccount()).apiKey)
    expect(await account.get('/ready')).toMatchObject({ status: 200, body: { status: 'ready' } })
    const blobs = join(holdfast.dataDir, 'blobs')
    const away = join(holdfast.dataDir, 'away')

    renameSync(blobs, away)
    holdfast.clock.advance(2000)
    const notReady = await visit(holdfast, '/ready')
    expect({ status: notReady.status, body: await notReady.json() }).toMatchObject({
      status: 503,
      body: { store: 'down', database: 'ok', error: 'STORAGE_UNAVAILABLE' },
    })
    expect(await account.get('/health')).toMatchObject({ status: 200 })
    const refused = await account.upload('hello')
    expect(refused).toMatchObject(refusal('STORAGE_UNAVAILABLE'))
    expect(refused.body).toMatchObject({ reason: 'away' })
    await holdfast.runJobs()
    expect(await account.upload('hello')).toMatchObject(refusal('STORAGE_UNAVAILABLE'))
    expect(await account.get('/api/v1/account')).toMatchObject({
      body: { data: { files_count: 0, storage_used: 0 } },
    })

    renameSync(away, blobs)
    // Only a probe tells that the store is well; until then uploads are refused.
    expect(await account.upload('hello')).toMatchObject(refusal('STORAGE_UNAVAILABLE'))
    await holdfast.runJobs()
    expect(await account.put('hello')).toMatchObject({ size: 5 })
    holdfast.clock.advance(2000)
    expect(await account.get('/ready')).toMatchObject({ status: 200, body: { store: 'ok' } })
  })

  test('is not called well by a probe that was under way when it failed', async () => {
    await using parts = await buildParts()
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const held = overridden(parts.blobs, {
      async probe() {
        begun.resolve()
        await goOn.promise
        await parts.blobs.probe()
      },
    })
    const health = createStoreHealth(held, () => {})
    const probe = health.probe()
    await begun.promise
    health.refusalFor(new StoreFailure('broken'))
    goOn.resolve()
    expect(await probe).toBe(false)
    expect(() => health.assertUsable()).toThrow()
    await health.recover()
    expect(() => health.assertUsable()).not.toThrow()
  })

  test('is told apart from a full one, which is not closed to uploads that fit', async () => {
    await using parts = await buildParts()
    const full = overridden(parts.blobs, { probe: () => Promise.reject(new StoreFailure('full')) })
    const health = createStoreHealth(full, () => {})
    await health.probe()
    health.refusalFor(new StoreFailure('full'))
    expect(() => health.assertUsable()).not.toThrow()
  })
})

function keyOf(shard: string, number: number): BlobKey {
  return `${shard}${number.toString(16).padStart(30, '0')}` as BlobKey
}

async function removeGarbage({ cleaning, clock }: TestParts): Promise<void> {
  clock.advance(GRACE_IS_OVER)
  await cleaning.removeGarbage()
}

async function uses({ db }: TestParts): Promise<number[]> {
  return (await db.selectFrom('blobs').select('refs').orderBy('id').execute()).map(({ refs }) => refs)
}

async function garbage({ db }: TestParts): Promise<string[]> {
  return (await db.selectFrom('blob_garbage').select('key').orderBy('key').execute()).map(({ key }) => key)
}
