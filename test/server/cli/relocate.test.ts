// Only in test:all: many starts of the program; relocate-refusals.test.ts has some.
import { afterAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openS3Blobs } from '../../../src/blobs/s3.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { caller } from '../../support/clients/caller.ts'
import { upload, visit } from '../../support/clients/public.ts'
import { thumbnailOf } from '../../support/clients/thumbnails.ts'
import { guestAt, tus } from '../../support/clients/tus.ts'
import { picture } from '../../support/contents/pictures.ts'
import { createDatabase, whyNoPostgres } from '../../support/databases/postgres.ts'
import { reportNotRun } from '../../support/processes/not-run.ts'
import { keysOf } from '../../support/storage/blob-chunks.ts'
import { finishedBlobs, inconsistencies, unfinishedBlobs } from '../../support/storage/blob-folder.ts'
import { newBucket, whyNoCeph } from '../../support/storage/ceph.ts'
import {
  assertServed,
  blobPath,
  everyRow,
  furnish,
  holdfastAt,
  home,
  type Place,
  relocate,
  relocateUntil,
  serve,
  tryToServe,
  withDatabase,
} from './relocation-fixture.ts'

const noPostgres = whyNoPostgres()
const noCeph = whyNoCeph()
const missing = [noPostgres, noCeph].filter((reason) => reason !== null)
if (missing.length > 0) reportNotRun('some tests of relocation', missing.join('; '))

const databases: { drop(): Promise<void> }[] = []
afterAll(async () => {
  for (const database of databases) await database.drop()
})

async function newDatabase(): Promise<string> {
  const database = await createDatabase()
  databases.push(database)
  return database.url
}

/** The same place with its rows in PostgreSQL, and the words that lead there. */
async function toPostgres(place: Place): Promise<{ words: string[]; target: Place }> {
  const url = await newDatabase()
  return { words: ['--to-database', url], target: { ...place, DATABASE_URL: url } }
}

/** The same place with its bytes in a new bucket, the words that lead there, and the key that they need. */
async function toBucket(place: Place) {
  const store = await newBucket()
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = store
  const key = { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey }
  const words = ['--to-s3', `${endpoint}/${bucket}`, '--to-s3-region', region, '--to-s3-path-style']
  const where = { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_REGION: region, S3_PATH_STYLE: 'true' }
  return { words, key, store, target: { ...place, ...where, ...key } satisfies Place }
}

/** A resumable upload of a guest with a part of its bytes; its path. */
async function beginUpload(place: Place): Promise<string> {
  await using server = await serve(place)
  const client = tus(guestAt(server.url))
  const { path } = await client.start(100)
  await client.patch(path, 0, new Uint8Array(60))
  await server.stop()
  return path
}

/** A picture that is uploaded to the place, and its thumbnail. */
async function withPicture(place: Place, key: string) {
  await using server = await serve(place)
  const file = await upload(server, { key, name: 'a.png', bytes: await picture('png', 400, 300) })
  const thumbnail = await thumbnailOf(server, key, file)
  await server.stop()
  return { file, thumbnail }
}

test('with CI=true nothing is left out', () => {
  if (process.env.CI === 'true') expect(missing).toEqual([])
})

describe.if(missing.length === 0)('from one machine to PostgreSQL and S3', () => {
  test('resumable uploads that are not finished end where only their bytes are left behind', async () => {
    using folder = home()
    await furnish(folder.place, 0)
    const path = await beginUpload(folder.place)
    const { words, key, target } = await toBucket(folder.place)
    expect(await relocate(folder.place, words, key)).toMatchObject({ code: 0 })
    await withDatabase(target, async (db) => {
      const reserving = await sql`select id from accounts where storage_reserved > 0`.execute(db)
      expect(reserving.rows).toEqual([])
    })
    await using server = await serve(target)
    expect((await tus(guestAt(server.url)).head(path)).status).toBe(410)
  })

  test('everything is there, works as before, and comes back the same', async () => {
    using folder = home()
    const inventory = await furnish(folder.place)
    const before = await everyRow(folder.place)
    const rows = await toPostgres(folder.place)
    const bytes = await toBucket(folder.place)
    const there = { ...rows.target, ...bytes.target } satisfies Place

    const out = await relocate(folder.place, [...rows.words, ...bytes.words], bytes.key)
    expect(out).toMatchObject({ code: 0 })
    expect(out.output).toContain(`HOLDFAST_S3_BUCKET=${bytes.target.S3_BUCKET}`)
    expect(out.output + out.errors).not.toContain(bytes.key.S3_SECRET_ACCESS_KEY)
    expect(await everyRow(there)).toEqual(before)

    const home2 = join(folder.path, 'home')
    const words = ['--to-database', 'sqlite', '--to-s3', 'none', '--to-data-dir', home2]
    const back = await relocate(there, words)
    expect(back).toMatchObject({ code: 0 })
    expect(back.output).toContain('take out\n    HOLDFAST_DATABASE_URL\n    HOLDFAST_S3_ENDPOINT')
    expect(await everyRow({ DATA_DIR: home2 })).toEqual(before)
    expect(inconsistencies(home2, { cleaned: true })).toEqual([])

    expect((await tryToServe(there)).errors).toContain('everything was moved from here to')
    expect((await holdfastAt(there, ['takeover'])).output).toContain('may be served again')
    await assertServed(there, inventory)
    await assertServed({ DATA_DIR: home2 }, inventory)
    expect((await tryToServe(folder.place)).errors).toContain('everything was moved from here to')
  })

  test('neither database goes with the other one’s store', async () => {
    using folder = home()
    await furnish(folder.place, 0)
    const rows = await toPostgres(folder.place)
    const bytes = await toBucket(folder.place)
    expect(await relocate(folder.place, [...rows.words, ...bytes.words], bytes.key)).toMatchObject({
      code: 0,
    })
    expect(await tryToServe(rows.target)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('belongs to another database'),
    })
    expect(await tryToServe(bytes.target)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('everything was moved from here to'),
    })
  })

  test('thumbnails stay behind with the old store, and are made anew when they are looked for', async () => {
    using folder = home()
    const { key: owner } = await furnish(folder.place, 0)
    const { file } = await withPicture(folder.place, owner)
    const { words, key, target, store } = await toBucket(folder.place)
    expect(await relocate(folder.place, words, key)).toMatchObject({ code: 0 })
    const stored: string[] = await keysOf(await openS3Blobs(store, systemRandom))
    expect(stored.sort()).toEqual((await blobKeys(target)).sort())
    await using server = await serve(target)
    expect((await visit(server, file.thumbnail_url)).headers.get('content-type')).toBe('image/svg+xml')
    await thumbnailOf(server, owner, file)
  })

  test('the bytes alone move after kills in the middle of them, nothing else is stored, and the store they came from is no longer taken', async () => {
    using folder = home()
    const inventory = await furnish(folder.place, 60)
    const before = await everyRow(folder.place)
    const { words, key, target, store } = await toBucket(folder.place)
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      await relocateUntil(folder.place, words, { said: 'Moving files', signal, turns: 20 }, key)
    }
    expect(await relocate(folder.place, words, key)).toMatchObject({ code: 0 })
    expect(await everyRow(target)).toEqual(before)
    const old = await tryToServe(folder.place)
    expect(old.code).toBe(1)
    expect(old.errors).toContain('the files of this database were moved away')
    const blobs = await openS3Blobs(store, systemRandom)
    const stored: string[] = await keysOf(blobs)
    expect(stored.sort()).toEqual((await blobKeys(target)).sort())
    await assertServed(target, inventory)
  })
})

describe.if(noPostgres === null)('the rows alone', () => {
  test('move, with the thumbnails, and the store goes with them', async () => {
    using folder = home()
    const { key: owner } = await furnish(folder.place)
    const { file, thumbnail } = await withPicture(folder.place, owner)
    const before = await everyRow(folder.place)
    const { words, target } = await toPostgres(folder.place)
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    expect(await everyRow(target)).toEqual(before)
    const old = await tryToServe(folder.place)
    expect(old.code).toBe(1)
    expect(old.errors).toContain('the rows were moved from here to')
    expect(old.errors).not.toContain('takeover')
    expect((await holdfastAt(folder.place, ['takeover'])).errors).toContain('belongs to another database')
    await using server = await serve(target)
    expect(new Uint8Array(await (await visit(server, file.thumbnail_url)).bytes())).toEqual(thumbnail)
  })

  test.each(['Copying rows', 'Comparing rows', 'Switching over'])(
    'a run that is killed at "%s" is finished by the next one',
    async (step) => {
      using folder = home()
      const inventory = await furnish(folder.place, 10)
      const before = await everyRow(folder.place)
      const { words, target } = await toPostgres(folder.place)
      await relocateUntil(folder.place, words, { said: step, signal: 'SIGKILL' })
      await relocate(folder.place, words)
      expect(await everyRow(target)).toEqual(before)
      await assertServed(target, inventory)
    },
  )

  test('a run that ended between the last two steps is finished by the next one', async () => {
    using folder = home()
    const inventory = await furnish(folder.place)
    const { words, target } = await toPostgres(folder.place)
    const origin = await markOf(folder.place)
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    const mark = await markOf(target)
    // The store has its new mark, and the new database does not know yet that it is the one.
    await withDatabase(target, async (db) => {
      await sql`update meta set key = 'next_store_mark' where key = 'store_mark'`.execute(db)
      await sql`update meta set key = 'relocating', value = ${origin} where key = 'store_marked'`.execute(db)
    })
    for (const place of [folder.place, target]) {
      expect(await tryToServe(place)).toMatchObject({ code: 1 })
    }
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    expect(await markOf(target)).toBe(mark)
    await assertServed(target, inventory)
  })

  test('bytes of an upload that a killed server has left are removed at the target', async () => {
    using folder = home()
    await furnish(folder.place, 0)
    const key = 'f'.repeat(32)
    await withDatabase(folder.place, async (db) => {
      await sql`insert into reservations (key, account_id, bytes, created_at, node) select ${key}, id, 10, 0, null from accounts where username = 'ann'`.execute(
        db,
      )
      await sql`update accounts set storage_reserved = 10 where username = 'ann'`.execute(db)
    })
    const { words, target } = await toPostgres(folder.place)
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    await withDatabase(target, async (db) => {
      const reserving = await sql`select id from accounts where storage_reserved > 0`.execute(db)
      expect(reserving.rows).toEqual([])
      const garbage = await sql`select key from blob_garbage where key = ${key}`.execute(db)
      expect(garbage.rows).toEqual([{ key }])
    })
  })

  test('resumable uploads that are not finished end, with their room and their bytes', async () => {
    using folder = home()
    await furnish(folder.place, 0)
    const path = await beginUpload(folder.place)
    const keys = await withDatabase(folder.place, async (db) => {
      return (await sql<{ key: string }>`select key from uploads`.execute(db)).rows
    })
    const { words, target } = await toPostgres(folder.place)
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    await withDatabase(target, async (db) => {
      const reserving = await sql`select id from accounts where storage_reserved > 0`.execute(db)
      expect(reserving.rows).toEqual([])
      const garbage = await sql<{ key: string }>`select key from blob_garbage`.execute(db)
      expect(garbage.rows).toEqual(expect.arrayContaining(keys))
      expect(keys).toHaveLength(1)
    })
    await using server = await serve(target)
    expect((await tus(guestAt(server.url)).head(path)).status).toBe(404)
  })

  test('a server on the source’s PostgreSQL is noticed', async () => {
    using folder = home()
    await furnish(folder.place, 0)
    const { words, target } = await toPostgres(folder.place)
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    await using _server = await serve(target)
    const { code, errors } = await relocate(target, [
      '--to-database',
      'sqlite',
      '--to-data-dir',
      join(folder.path, 'x'),
    ])
    expect(code).toBe(1)
    expect(errors).toContain('a server runs on one of the databases')
  })

  test('a target that was only tried out counts as empty', async () => {
    using folder = home()
    const inventory = await furnish(folder.place)
    const { words, target } = await toPostgres(folder.place)
    const tried = { ...target, DATA_DIR: join(folder.path, 'tried') }
    await (await serve(tried)).stop()
    expect(await relocate(folder.place, [...words, '--to-data-dir', tried.DATA_DIR])).toMatchObject({
      code: 0,
    })
    await assertServed(tried, inventory)
  })
})

describe('from folder to folder', () => {
  const elsewhere = (folder: { readonly path: string }) => {
    const target = { DATA_DIR: join(folder.path, 'other') } satisfies Place
    return { target, words: ['--to-data-dir', target.DATA_DIR] }
  }

  test('everything moves, the source refuses to be served and says where it went, and goes back when it is told to', async () => {
    using folder = home()
    const inventory = await furnish(folder.place)
    const before = await everyRow(folder.place)
    const { target, words } = elsewhere(folder)
    const copies = { BACKUP: `${folder.place.DATA_DIR}-backup`, MIRROR: `${folder.place.DATA_DIR}-mirror` }
    const { code, errors, output } = await relocate({ ...folder.place, ...copies }, words)
    expect({ code, errors: errors.includes('error') }).toEqual({ code: 0, errors: false })
    expect(output).toContain(`HOLDFAST_DATA_DIR=${target.DATA_DIR}`)
    for (const command of ['holdfast mirror --adopt', 'holdfast backup ']) expect(output).toContain(command)
    expect(await everyRow(target)).toEqual(before)
    expect(await everyRow(folder.place)).toEqual(before)
    expect(inconsistencies(target.DATA_DIR, { cleaned: true })).toEqual([])
    await assertServed(target, inventory)
    expect(errors).toContain('nobody reaches the site meanwhile')
    expect(errors).toMatch(/It took \d+ (s|min)\./)
    const third = ['relocate', '--to-data-dir', join(folder.path, 'third')]
    for (const command of [third, ['account', 'add', 'carl']]) {
      expect(await holdfastAt(folder.place, command)).toMatchObject({
        code: 1,
        errors: expect.stringContaining(`everything was moved from here to ${target.DATA_DIR}`),
      })
    }
    expect(await tryToServe(folder.place)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('"holdfast takeover"'),
    })
    expect((await holdfastAt(folder.place, ['takeover'])).output).toContain('may be served again')
    await assertServed(folder.place, inventory)
  })

  test('a run that ended after it had marked the source, and before the target was whole, goes on', async () => {
    using folder = home()
    const inventory = await furnish(folder.place)
    const { target, words } = elsewhere(folder)
    await relocateUntil(folder.place, words, { said: 'Copying rows', signal: 'SIGKILL' })
    await withDatabase(folder.place, async (db) => {
      const value = JSON.stringify({ to: target.DATA_DIR, at: 0, isWithBytes: true })
      await sql`insert into meta (key, value) values ('moved_to', ${value})`.execute(db)
    })
    for (const place of [folder.place, target]) expect(await tryToServe(place)).toMatchObject({ code: 1 })
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    await assertServed(target, inventory)
  })

  test('a run that is killed again and again is finished by the last one', async () => {
    using folder = home()
    const inventory = await furnish(folder.place, 150)
    const before = await everyRow(folder.place)
    const { target, words } = elsewhere(folder)
    const ends = [
      { said: 'Moving files', turns: 10 },
      { said: 'Moving files', turns: 20 },
      { said: 'Copying rows' },
      { said: 'Comparing rows' },
    ]
    for (const end of ends) await relocateUntil(folder.place, words, { ...end, signal: 'SIGKILL' })
    const serve = await tryToServe(target)
    expect(serve.code).toBe(1)
    expect(serve.errors).toContain('is not whole yet')
    const addAccount = await holdfastAt(target, ['account', 'add', 'zoe'])
    expect(addAccount.code).toBe(1)
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    expect(await everyRow(target)).toEqual(before)
    expect(inconsistencies(target.DATA_DIR, { cleaned: true })).toEqual([])
    await assertServed(target, inventory)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s stops it, and it says how to go on', async (signal) => {
    using folder = home()
    const inventory = await furnish(folder.place, 150)
    const { target, words } = elsewhere(folder)
    const { code, errors } = await relocateUntil(folder.place, words, { said: 'Moving files', signal })
    expect(code).toBe(128 + constants.signals[signal])
    expect(errors).toContain('error: stopped; nothing is switched, and the same command goes on from here')
    expect(unfinishedBlobs(target.DATA_DIR)).toEqual([])
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    await assertServed(target, inventory)
  })

  test('what changes between two runs is at the target in the end, and nothing else', async () => {
    using folder = home()
    const inventory = await furnish(folder.place)
    const { target, words } = elsewhere(folder)
    await relocateUntil(folder.place, words, { said: 'Copying rows', signal: 'SIGKILL' })
    const [dropped, ...kept] = inventory.files
    if (dropped === undefined) throw new Error('there are no files')
    const server = await serve(folder.place)
    const api = caller(server.url, inventory.key)
    await api.deleteFiles([dropped.slug])
    const added = await api.upload(new Uint8Array([1, 2, 3]), 'added.bin')
    await server.stop()
    // As the server's jobs do it, minutes later.
    await withDatabase(folder.place, async (db) => {
      const gone = sql`select blob_id from files where slug = ${dropped.slug}`
      const { rows } = await sql<{ key: string }>`select key from blobs where id = (${gone})`.execute(db)
      await sql`delete from files where slug = ${dropped.slug}`.execute(db)
      for (const { key } of rows) {
        await sql`delete from blobs where key = ${key}`.execute(db)
        rmSync(blobPath(folder.place, key))
      }
    })
    const before = await everyRow(folder.place)
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    expect(await everyRow(target)).toEqual(before)
    expect(inconsistencies(target.DATA_DIR, { cleaned: true })).toEqual([])
    await assertServed(target, { ...inventory, files: [...kept, added] })
  })

  test('bytes that were lost at the target between two runs are moved once more', async () => {
    using folder = home()
    const inventory = await furnish(folder.place)
    const { target, words } = elsewhere(folder)
    await relocateUntil(folder.place, words, { said: 'Copying rows', signal: 'SIGKILL' })
    const [lost = ''] = finishedBlobs(target.DATA_DIR)
    rmSync(blobPath(target, lost))
    expect(await relocate(folder.place, words)).toMatchObject({ code: 0 })
    expect(finishedBlobs(target.DATA_DIR)).toContain(lost)
    await assertServed(target, inventory)
  })
})

async function markOf(place: Place): Promise<string | undefined> {
  return withDatabase(place, async (db) => {
    const { rows } = await sql<{ value: string }>`select value from meta where key = 'store_mark'`.execute(db)
    return rows[0]?.value
  })
}

async function blobKeys(place: Place): Promise<string[]> {
  return withDatabase(place, async (db) => {
    const { rows } = await sql<{ key: string }>`select key from blobs`.execute(db)
    return rows.map(({ key }) => key)
  })
}
