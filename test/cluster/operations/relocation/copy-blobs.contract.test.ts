/** Bytes on their way to another store, with stores that fail. */

import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { type BlobStore, StoreFailure } from '../../../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../../../src/blobs/disk.ts'
import { makeRelocatedBlobs, relocatedAmong } from '../../../../src/contents/copied.rows.ts'
import { type CopyRoute, createBlobCopier } from '../../../../src/contents/copy-threads.ts'
import { type BlobCopyJob, copyBlobs } from '../../../../src/contents/copying.ts'
import type { Database } from '../../../../src/database/database.ts'
import { inTransaction } from '../../../../src/database/transactions.ts'
import type { BlobKey } from '../../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../../src/domain/random.ts'
import { chance } from '../../../support/chance.ts'
import { sha256 } from '../../../support/clients/caller.ts'
import { sqliteDatabase } from '../../../support/databases/databases.ts'
import { bytesOf, chunksOf, keysOf } from '../../../support/storage/blob-chunks.ts'
import { overridden } from '../../../support/storage/overridden.ts'

interface Parts extends AsyncDisposable {
  readonly db: Database
  readonly from: BlobStore
  readonly to: BlobStore
  readonly keys: readonly BlobKey[]
  /** How many blobs were copied, and how many were there. */
  readonly told: { copied: number; there: number; bytes: number; paced: number }
  copy(changes?: Partial<BlobCopyJob & CopyRoute>): ReturnType<typeof copyBlobs>
}

async function partsOf(sizes: readonly number[]): Promise<Parts> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  const database = await sqliteDatabase()
  const { db } = database
  await inTransaction(db, makeRelocatedBlobs)
  const open = (name: string) => openDiskBlobs(join(folder, name), systemRandom, { alone: true })
  const [from, to] = [await open('from'), await open('to')]
  const random = chance(1)
  const keys: BlobKey[] = []
  for (const size of sizes) {
    const key = makeBlobKey(systemRandom)
    const bytes = random.bytes(size)
    const writer = await from.create(key)
    await writer.write(bytes)
    await writer.complete()
    await sql`insert into blobs (key, sha256, crc32, size, refs, created_at)
      values (${key}, ${sha256(bytes)}, 0, ${size}, 1, 0)`.execute(db)
    keys.push(key)
  }
  const told = { copied: 0, there: 0, bytes: 0, paced: 0 }
  return {
    db,
    from,
    to,
    keys,
    told,
    copy(changes) {
      const route: CopyRoute = {
        from,
        to,
        goesOn: false,
        readsBack: true,
        throttle: async (bytes) => {
          told.paced += bytes
        },
        pause: async () => {},
        onBytes: (bytes) => {
          told.bytes += bytes
        },
        ...changes,
      }
      return copyBlobs({
        rows: db,
        memory: db,
        copier: createBlobCopier(route),
        listed: null,
        signal: new AbortController().signal,
        onBlob: (_blob, wasThere) => {
          told[wasThere ? 'there' : 'copied']++
        },
        ...changes,
      })
    },
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function keysIn(store: BlobStore): Promise<string[]> {
  return (await keysOf(store)).sort()
}

const SIZES = [0, 1, 70_000, 300_000, 1_000_000, ...Array.from({ length: 30 }, (_, at) => at * 100 + 1)]

describe('copying blobs', () => {
  test('brings every blob, and tells of every byte', async () => {
    await using parts = await partsOf(SIZES)
    expect(await parts.copy()).toEqual([])
    expect(await keysIn(parts.to)).toEqual([...parts.keys].sort())
    const bytes = SIZES.reduce((sum, size) => sum + size, 0)
    expect(parts.told).toEqual({ copied: SIZES.length, there: 0, bytes, paced: bytes })
  })

  test('once more brings only what is not there whole', async () => {
    await using parts = await partsOf(SIZES)
    await parts.copy()
    const [lost, cut, unfinished] = parts.keys.slice(2)
    if (lost === undefined || cut === undefined || unfinished === undefined) throw new Error('too few blobs')
    for (const key of [lost, cut, unfinished]) await parts.to.remove(key)
    await (await parts.to.create(unfinished)).write(new Uint8Array([1]))
    const writer = await parts.to.create(cut)
    await writer.write(new Uint8Array([1]))
    await writer.complete()
    parts.told.copied = 0
    expect(await parts.copy({ goesOn: true })).toEqual([])
    expect(parts.told).toMatchObject({ copied: 3, there: SIZES.length - 3 })
    expect(await parts.to.size(cut)).toBe(await parts.from.size(cut))
  })

  test('believes no blob at the target that it does not remember, but reads it', async () => {
    await using parts = await partsOf([5000, 5000])
    const [whole, wrong] = parts.keys
    if (whole === undefined || wrong === undefined) throw new Error('too few blobs')
    for (const [key, source] of [
      [whole, whole],
      [wrong, whole],
    ] as const) {
      const writer = await parts.to.create(key)
      await writer.write(await bytesOf(await parts.from.read(source, 0, 5000)))
      await writer.complete()
    }
    expect(await parts.copy({ goesOn: true })).toEqual([])
    expect(parts.told).toMatchObject({ copied: 1, there: 1 })
  })

  test('counts nothing as copied that could not be made durable', async () => {
    await using parts = await partsOf([1000, 1000])
    const settle = () => Promise.reject(new StoreFailure('away'))
    await expect(parts.copy({ settle })).rejects.toMatchObject({ reason: 'away' })
    expect((await relocatedAmong(parts.db, parts.keys)).size).toBe(0)
  })

  test('a store that is away for a moment is waited for', async () => {
    await using parts = await partsOf([1000, 1000, 1000])
    let left = 3
    const waits: number[] = []
    const from = overridden(parts.from, {
      async read(...range) {
        if (left-- > 0) throw new StoreFailure('away')
        return parts.from.read(...range)
      },
    })
    const pause = async (milliseconds: number) => {
      waits.push(milliseconds)
    }
    expect(await parts.copy({ from, pause })).toEqual([])
    expect(waits.length).toBe(3)
  })

  test.each(['away', 'refused', 'full'] as const)(
    'a store that stays %s ends it and leaves nothing half done',
    async (reason) => {
      await using parts = await partsOf(SIZES)
      const to = overridden(parts.to, {
        async create(key) {
          const writer = await parts.to.create(key)
          return overridden(writer, { complete: () => Promise.reject(new StoreFailure(reason)) })
        },
      })
      await expect(parts.copy({ to })).rejects.toMatchObject({ reason })
      expect(await keysIn(parts.to)).toEqual([])
    },
  )

  test('a source that breaks in the middle of one file is damage of that file alone', async () => {
    await using parts = await partsOf([1000, 2000, 3000])
    const [, broken] = parts.keys
    const from = overridden(parts.from, {
      async read(key, start, end) {
        if (key !== broken) return parts.from.read(key, start, end)
        return chunksOf(new Uint8Array(10), Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))
      },
    })
    expect(await parts.copy({ from })).toMatchObject([{ key: broken, reason: 'cannot be read' }])
    expect((await keysIn(parts.to)).length).toBe(2)
  })

  test('a target that gives other bytes back is not believed', async () => {
    await using parts = await partsOf([1000])
    const to = overridden(parts.to, { read: async () => chunksOf(new Uint8Array(1000)) })
    expect(await parts.copy({ to })).toMatchObject([
      { fault: 'target', reason: expect.stringContaining('returned other bytes') },
    ])
    expect(await keysIn(parts.to)).toEqual([])
  })

  test('a signal ends it with its reason', async () => {
    await using parts = await partsOf(SIZES)
    const stop = new AbortController()
    const onBlob = () => stop.abort(new Error('enough'))
    await expect(parts.copy({ signal: stop.signal, onBlob })).rejects.toThrow('enough')
    expect((await keysIn(parts.to)).length).toBeLessThan(SIZES.length)
    expect(await parts.copy({ goesOn: true })).toEqual([])
    expect(await keysIn(parts.to)).toEqual([...parts.keys].sort())
  })
})
