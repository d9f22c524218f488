import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { GuestCaller } from '../../src/core/callers.ts'
import { createRateLimits } from '../../src/core/rate-limits/rate-limits.ts'
import { type Api, api } from '../support/clients/api.ts'
import { visit } from '../support/clients/public.ts'
import { lossyDatabase } from '../support/databases/lossy-database.ts'
import { fullDisk, lockedBySomebody, type Outage } from '../support/databases/outage.ts'
import { eventually } from '../support/eventually.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import { reportNotRun } from '../support/processes/not-run.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { buildParts, type PartsOptions, type TestParts } from '../support/servers/parts.ts'
import { bytesOf } from '../support/storage/blob-chunks.ts'
import { finishedBlobs, unfinishedBlobs } from '../support/storage/blob-folder.ts'
import { smallDisk, whyNoSmallDisk } from '../support/storage/small-disk.ts'

const MIB = 1024 ** 2
const HOUR = 3_600_000
const GUEST: GuestCaller = { kind: 'guest', bucket: '192.0.2.1' }

const obstacle = whyNoSmallDisk()
if (obstacle !== null) {
  reportNotRun('database failures on a full disk', obstacle)
  test.if(process.env.CI === 'true')('a small disk can be mounted', () => {
    throw new Error(obstacle)
  })
}

interface Failing extends TestParts {
  readonly outage: Outage
}

async function locked(options: PartsOptions): Promise<Failing> {
  const parts = await buildParts(options)
  return { ...parts, outage: lockedBySomebody(parts.folder) }
}

/** The database alone is on the small disk: the store has room. */
async function full(options: PartsOptions): Promise<Failing> {
  const disk = smallDisk(8)
  const parts = await buildParts({ ...options, databaseFolder: disk.path })
  return {
    ...parts,
    outage: fullDisk(disk, disk.path),
    async [Symbol.asyncDispose]() {
      await parts[Symbol.asyncDispose]()
      disk[Symbol.dispose]()
    },
  }
}

const failures = [
  ['that another writer has locked', locked],
  ...(obstacle === null ? [['whose disk is full', full] as const] : []),
] as const

describe.each(failures)('a database %s', (_, build) => {
  test('gets the counters and last uses of a failed flush later, with those that came since', async () => {
    await using parts = await build({})
    const { usage, caller, clock } = parts
    const { id } = await parts.store('hello', 'hello.txt')
    usage.fileUsed(id, 'view')
    usage.fileUsed(id, 'download')
    usage.requested(caller)

    const end = parts.outage()
    await expect(usage.flush()).rejects.toMatchObject({ code: expect.stringMatching(/^SQLITE_(BUSY|FULL)/) })
    expect(usage.pending(id)).toMatchObject({ views: 1, downloads: 1 })
    clock.advance(10_000)
    const lastUse = clock.now()
    usage.fileUsed(id, 'view')
    usage.requested(caller)
    const failing = usage.flush().catch((error: unknown) => error)
    // On a full disk the counts are being written by then, and a later one is kept beside them.
    for (let turn = 0; turn < 1000 && usage.pending(id).views > 0; turn++) await null
    usage.fileUsed(id, 'view')
    expect(await failing).toBeInstanceOf(Error)
    expect(usage.pending(id)).toMatchObject({ views: 3, downloads: 1 })
    end()
    await usage.flush()

    expect(usage.pending(id)).toMatchObject({ views: 0, downloads: 0 })
    const file = await fileRow(parts, id)
    expect(file).toMatchObject({ views: 3, downloads: 1 })
    expect(file.last_used_at).toBeGreaterThanOrEqual(lastUse)
    const key = await parts.db.selectFrom('api_keys').select('last_used_at').executeTakeFirstOrThrow()
    expect(key.last_used_at).toBeGreaterThanOrEqual(lastUse)
    const days = await parts.db.selectFrom('request_days').select('requests').execute()
    expect(days.reduce((sum, { requests }) => sum + requests, 0)).toBe(2)

    await usage.flush()
    expect(await fileRow(parts, id)).toMatchObject({ views: 3, downloads: 1 })
  })

  test('gets the rate windows of a failed flush later', async () => {
    await using parts = await build({})
    const { rates, clock } = parts
    await rates.take('key:1', 3, 10, HOUR)
    const end = parts.outage()
    await expect(rates.flush()).rejects.toThrow()
    await rates.take('key:1', 1, 10, HOUR)
    await rates.take('key:2', 1, 10, HOUR)
    await expect(rates.flush()).rejects.toThrow()
    end()
    await rates.flush()

    const afterRestart = await createRateLimits(parts.db, clock)
    expect(await afterRestart.take('key:1', 0, 10, HOUR)).toMatchObject({ remaining: 6 })
    expect(await afterRestart.take('key:2', 0, 10, HOUR)).toMatchObject({ remaining: 9 })
  })

  test('releases the reservation of a failed upload later', async () => {
    await using parts = await build({ limits: { storageLimit: 10 * MIB } })
    const reservation = await parts.reservations.reserve(parts.caller, 10 * MIB, 10 * MIB)
    const end = parts.outage()
    await reservation.release()
    expect(parts.reported).toHaveLength(1)
    await expect(parts.reservations.endFailed()).rejects.toThrow()
    end()
    expect(await reserved(parts)).toEqual({ reservations: 1, bytes: 10 * MIB })
    await parts.reservations.endFailed()
    expect(await reserved(parts)).toEqual({ reservations: 0, bytes: 0 })
    // Once, and not again: what it had is free for others, and theirs is not touched.
    await parts.reservations.reserve(parts.caller, 10 * MIB, 10 * MIB)
    await reservation.release()
    await parts.reservations.endFailed()
    expect(await reserved(parts)).toEqual({ reservations: 1, bytes: 10 * MIB })
  })

  test('leaves a guest all the bytes of the hour when nothing could be reserved', async () => {
    await using parts = await build({ limits: { guestHourlySize: 1 * MIB } })
    const end = parts.outage()
    for (let tries = 0; tries < 3; tries++) {
      await expect(parts.reservations.reserve(GUEST, 1 * MIB, 0)).rejects.toMatchObject({
        code: expect.stringMatching(/^SQLITE_(BUSY|FULL)/),
      })
    }
    end()
    const reservation = await parts.reservations.reserve(GUEST, MIB / 2, 0)
    const endAgain = parts.outage()
    await expect(reservation.cover(MIB)).rejects.toThrow()
    await reservation.release()
    endAgain()
    await parts.reservations.endFailed()
    await parts.reservations.reserve(GUEST, 1 * MIB, 0)
  })

  test('keeps no bytes of an upload that it could not commit, once it takes changes again', async () => {
    await using parts = await build({ limits: { storageLimit: 1 * MIB } })
    const incoming = await parts.uploads.begin(parts.caller, 'root', { least: 5, declared: 5 })
    await incoming.write(Buffer.from('hello'))
    // Reads of this turn keep the log from being truncated.
    await new Promise(setImmediate)
    const end = parts.outage()
    await expect(incoming.finish('hello.txt', null)).rejects.toThrow()
    await incoming.abort().catch(() => {})
    end()
    await clean(parts)
    expect(await reserved(parts)).toEqual({ reservations: 0, bytes: 0 })
    expect(unfinishedBlobs(parts.folder)).toEqual([])
    expect(finishedBlobs(parts.folder)).toEqual([])
  })
})

describe('a commit whose answer is lost', () => {
  test('is a success when the row turns out to be there', async () => {
    const lossy = lossyDatabase()
    await using parts = await buildParts({ between: lossy.between })
    const first = await parts.store('hello', 'first.txt')
    const incoming = await parts.uploads.begin(parts.caller, 'root', { least: 5, declared: 5 })
    await incoming.write(Buffer.from('hello'))
    lossy.loseNextAnswer('well')
    const second = await incoming.finish('second.txt', null)
    await incoming.abort()
    await clean(parts)
    expect(await contentOf(parts, first.id)).toBe('hello')
    expect(await contentOf(parts, second.id)).toBe('hello')
    expect(await reserved(parts)).toEqual({ reservations: 0, bytes: 0 })
  })

  test.each([
    ['that is cleaned up while the database is still away', 'before'],
    ['that is cleaned up when the database is back', 'after'],
  ])('takes no bytes from any row, for an upload %s', async (_, abort) => {
    const lossy = lossyDatabase()
    await using parts = await buildParts({ between: lossy.between })
    const first = await parts.store('hello', 'first.txt')
    const incoming = await parts.uploads.begin(parts.caller, 'root', { least: 5, declared: 5 })
    await incoming.write(Buffer.from('hello'))
    lossy.loseNextAnswer('quiet')
    await expect(incoming.finish('second.txt', null)).rejects.toMatchObject({ code: 'SQLITE_IOERR_FSYNC' })
    if (abort === 'before') await incoming.abort().catch(() => {})
    lossy.recover()
    if (abort === 'after') await incoming.abort()
    await clean(parts)

    // The row is there, as the commit had gone through: both files are whole.
    const rows = await parts.db.selectFrom('files').select(['id', 'name']).orderBy('id').execute()
    expect(rows.map(({ name }) => name)).toEqual(['first.txt', 'second.txt'])
    for (const { id } of rows) expect(await contentOf(parts, id)).toBe('hello')
    expect(await contentOf(parts, first.id)).toBe('hello')
    expect(finishedBlobs(parts.folder)).toHaveLength(1)
    expect(await reserved(parts)).toEqual({ reservations: 0, bytes: 0 })
  })
})

describe.skipIf(obstacle !== null)('a server whose disk is full', () => {
  test('answers changes with 503 and reads as ever, and has lost no view when there is room', async () => {
    using disk = smallDisk(16)
    await using stack = new AsyncDisposableStack()
    const holdfast = stack.adopt(await startHoldfast({ dataDir: join(disk.path, 'data') }), (server) =>
      server.stop(),
    )
    const account = api(holdfast, (await holdfast.addAccount()).apiKey)
    const file = await account.put('hello', { name: 'hello.txt' })
    const folder = await account.folder('holiday')
    const parent = await account.folder('parent')
    await holdfast.runJobs()

    const end = fullDisk(disk, holdfast.dataDir)()
    stack.defer(end)
    const calls: readonly [() => ReturnType<Api['post']>, RegExp][] = [
      [() => account.post('/api/v1/folder', { name: 'more' }), /^DATABASE_UNAVAILABLE$/],
      [() => account.patch(`/api/v1/folder/${folder}`, { name: 'beach' }), /^DATABASE_UNAVAILABLE$/],
      [() => account.patch(`/api/v1/file/${file.slug}`, { name: 'x.txt' }), /^DATABASE_UNAVAILABLE$/],
      [() => account.post('/api/v1/file/move', { file: file.slug, folder }), /^DATABASE_UNAVAILABLE$/],
      [() => account.post('/api/v1/files/move', { files: [file.slug], folder }), /^DATABASE_UNAVAILABLE$/],
      [() => account.post('/api/v1/folder/move', { folder, parent }), /^DATABASE_UNAVAILABLE$/],
      [() => account.post('/file/delete', { identifiers: [file.slug] }), /^DATABASE_UNAVAILABLE$/],
      [() => account.post('/folder/delete', { identifiers: [folder] }), /^DATABASE_UNAVAILABLE$/],
      [() => account.upload('more'), /^(DATABASE|STORAGE)_UNAVAILABLE$/],
      [() => api(holdfast).upload('a guest'), /^(DATABASE|STORAGE)_UNAVAILABLE$/],
    ]
    for (const [call, codes] of calls) {
      const { status, body } = await call()
      expect({ status, error: errorOf(body) }).toEqual({ status: 503, error: expect.stringMatching(codes) })
    }
    expect(await account.get('/health')).toMatchObject({ status: 200 })
    expect(await account.get('/api/v1/files')).toMatchObject({
      status: 200,
      body: { pagination: { total: 1 } },
    })
    expect(await account.get('/api/v1/folders')).toMatchObject({ status: 200 })
    expect((await visit(holdfast, `/d/${file.slug}`)).status).toBe(200)
    await holdfast.runJobs()
    expect((await visit(holdfast, `/d/${file.slug}`)).status).toBe(200)
    expect(writtenViews(holdfast, file.file_id)).toBe(0)

    end()
    await holdfast.runJobs()
    expect(writtenViews(holdfast, file.file_id)).toBe(2)
    expect(await account.put('more')).toMatchObject({ size: 4 })
    expect(await account.post('/file/delete', { identifiers: [file.slug] })).toMatchObject({
      status: 200,
      body: { success: true },
    })
  })

  test('releases the reservation of an upload that broke off when the jobs can write again', async () => {
    using disk = smallDisk(16)
    await using stack = new AsyncDisposableStack()
    const holdfast = stack.adopt(
      await startHoldfast({ dataDir: join(disk.path, 'data'), storageLimit: 4 * MIB }),
      (server) => server.stop(),
    )
    const { apiKey: key } = await holdfast.addAccount()
    const upload = await openUpload(holdfast.url, { key, size: 4 * MIB })
    await upload.send(new Uint8Array(64 * 1024))
    await eventually('the upload has begun', () => unfinishedBlobs(holdfast.dataDir).length === 1)
    const end = fullDisk(disk, holdfast.dataDir)()
    stack.defer(end)
    upload.abort()
    await eventually('its bytes are gone', () => unfinishedBlobs(holdfast.dataDir).length === 0)
    end()
    await eventually('its reservation is gone', async () => {
      await holdfast.runJobs()
      return reservations(holdfast) === 0
    })
    await api(holdfast, key).put(new Uint8Array(4 * MIB))
  })
})

/** What the jobs do, after the time that garbage is left lying. */
async function clean(parts: TestParts): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await parts.reservations.endFailed()
    await parts.cleaning.purgeDeleted()
    await parts.cleaning.removeGarbage()
    parts.clock.advance(2 * 60_000)
  }
}

function fileRow(parts: TestParts, id: number) {
  return sql<{ views: number; downloads: number; last_used_at: number }>`select * from files where id = ${id}`
    .execute(parts.db)
    .then(({ rows: [row] }) => row ?? Promise.reject(new Error('the file has no row')))
}

/** The bytes that the file's row points to; null when they are gone. */
async function contentOf(parts: TestParts, id: number): Promise<string | null> {
  const { key, size } = await parts.db
    .selectFrom('files')
    .innerJoin('blobs', 'blobs.id', 'files.blob_id')
    .select(['blobs.key', 'blobs.size'])
    .where(sql<number>`files.id`, '=', id)
    .executeTakeFirstOrThrow()
  if ((await parts.blobs.size(key)) === null) return null
  return String(await bytesOf(await parts.blobs.read(key, 0, size)))
}

async function reserved(parts: TestParts): Promise<{ reservations: number; bytes: number }> {
  const rows = await parts.db.selectFrom('reservations').select('key').execute()
  const accounts = await parts.db.selectFrom('accounts').select('storage_reserved').execute()
  return {
    reservations: rows.length,
    bytes: accounts.reduce((sum, row) => sum + row.storage_reserved, 0),
  }
}

function writtenViews(holdfast: TestHoldfast, file: number): number | undefined {
  using database = new Database(join(holdfast.dataDir, 'holdfast.sqlite'), { readonly: true })
  return database.query<{ views: number }, [number]>('select views from files where id = ?').get(file)?.views
}

function reservations(holdfast: TestHoldfast): number {
  using database = new Database(join(holdfast.dataDir, 'holdfast.sqlite'), { readonly: true })
  return database.query('select key from reservations').all().length
}

function errorOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
}
