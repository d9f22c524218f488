// Only in test:all: starts the program for each refusal; relocation.test.ts has the rules.
import { describe, expect, test } from 'bun:test'
import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { startChild, temporaryFolder } from '../../support/processes/child.ts'
import { inconsistencies } from '../../support/storage/blob-folder.ts'
import {
  blobPath,
  everyRow,
  furnish,
  home,
  type Place,
  relocate,
  relocateUntil,
  serve,
  tryToServe,
  withDatabase,
} from './relocation-fixture.ts'

/** Without contents that lie in the store and belong to no file any more. */
function contentsOfFiles(place: Place): Promise<string[]> {
  return withDatabase(place, async (db) => {
    const files = db.selectFrom('files').innerJoin('blobs', 'blobs.id', 'files.blob_id')
    const rows = await files.select('blobs.key').where('files.removed_at', 'is', null).distinct().execute()
    return rows.map(({ key }) => key).sort()
  })
}

describe('damage at the source', () => {
  async function damage(place: Place) {
    const [changed = '', short = '', missing = ''] = (await contentsOfFiles(place)).filter(
      (key) => statSync(blobPath(place, key)).size > 0,
    )
    const path = blobPath(place, changed)
    const bytes = new Uint8Array(await Bun.file(path).arrayBuffer())
    bytes[0] = 255 - (bytes[0] ?? 0)
    writeFileSync(path, bytes)
    truncateSync(blobPath(place, short), 0)
    rmSync(blobPath(place, missing))
    return { changed, short, missing }
  }

  test('is listed with the files that it touches, and nothing is switched', async () => {
    using folder = home()
    const inventory = await furnish(folder.place, 10)
    const { changed, short, missing } = await damage(folder.place)
    const other = join(folder.path, 'other')
    const { code, errors } = await relocate(folder.place, ['--to-data-dir', other])
    expect(code).toBe(1)
    expect(errors).toContain(`blob ${changed} has other bytes than it was uploaded with`)
    expect(errors).toMatch(new RegExp(`blob ${short} has 0 bytes instead of \\d+`))
    expect(errors).toContain(`blob ${missing} is missing`)
    expect(inventory.files.filter(({ slug }) => errors.includes(slug)).length).toBeGreaterThan(0)
    expect(errors).toContain('nothing is switched')
    expect((await tryToServe({ DATA_DIR: other })).errors).toContain('is not whole yet')
    await (await serve(folder.place)).stop()
  })

  test('is left behind when that is asked for, and the rows go all the same', async () => {
    using folder = home()
    await furnish(folder.place, 10)
    const before = await everyRow(folder.place)
    const lost = Object.values(await damage(folder.place)).sort()
    const target = { DATA_DIR: join(folder.path, 'other') }
    const { code } = await relocate(folder.place, ['--to-data-dir', target.DATA_DIR, '--skip-damaged'])
    expect(code).toBe(0)
    expect(await everyRow(target)).toEqual(before)
    const missing = lost.map((key) => `blob ${key} has a row and no bytes`)
    expect(inconsistencies(target.DATA_DIR, { cleaned: true }).sort()).toEqual(missing)
    await (await serve(target)).stop()
  })
})

describe('refused', () => {
  test('while a server runs on the source', async () => {
    using folder = home()
    await furnish(folder.place, 0)
    await using _server = await startChild(folder.place.DATA_DIR)
    const { code, errors } = await relocate(folder.place, ['--to-data-dir', join(folder.path, 'other')])
    expect(code).toBe(1)
    expect(errors).toContain('another Holdfast server is using the data folder')
  })

  test('into a database that somebody uses', async () => {
    using folder = home()
    using other = home()
    await furnish(folder.place, 0)
    await furnish(other.place, 1)
    const before = await everyRow(other.place)
    const { code, errors } = await relocate(folder.place, ['--to-data-dir', other.place.DATA_DIR])
    expect(code).toBe(1)
    expect(errors).toContain('the target database is not empty')
    expect(await everyRow(other.place)).toEqual(before)
  })

  test('into a target that another installation has begun to fill', async () => {
    using folder = home()
    using other = home()
    await furnish(folder.place, 0)
    await furnish(other.place, 1)
    const words = ['--to-data-dir', join(folder.path, 'target')]
    await relocateUntil(folder.place, words, { said: 'Copying rows', signal: 'SIGKILL' })
    const { code, errors } = await relocate(other.place, words)
    expect(code).toBe(1)
    expect(errors).toContain('the unfinished relocation of another Holdfast')
  })

  test('into a store that belongs to another database, or has files of nobody', async () => {
    using folder = home()
    using other = home()
    await furnish(folder.place, 0)
    await furnish(other.place, 1)
    const database = join(other.place.DATA_DIR, 'holdfast.sqlite')
    for (const file of [database, `${database}-wal`, `${database}-shm`]) rmSync(file, { force: true })
    const words = ['--to-data-dir', other.place.DATA_DIR]
    expect((await relocate(folder.place, words)).errors).toContain('belongs to a database already')
    rmSync(join(other.place.DATA_DIR, 'blobs/mark'))
    expect((await relocate(folder.place, words)).errors).toContain(
      'there are files in the target store already',
    )
  })

  test('from where nothing is, and nothing is made there', async () => {
    using folder = home()
    const { code, errors } = await relocate(folder.place, ['--to-data-dir', join(folder.path, 'other')])
    expect(code).toBe(1)
    expect(errors).toContain('there is nothing to move')
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('to where everything is', async () => {
    using folder = home()
    await furnish(folder.place, 0)
    for (const words of [[], ['--to-database', 'sqlite'], ['--to-data-dir', folder.place.DATA_DIR]]) {
      const { code, errors } = await relocate(folder.place, words)
      expect(code).toBe(1)
      expect(errors).toContain('that is where everything is')
    }
  })

  test.each([
    ['--to-database mysql://host/database'],
    ['--to-database'],
    ['--to-s3 https://s3.example.org'],
    ['--to-s3 https://s3.example.org/bucket/folder'],
    ['--to-s3 https://key:secret@s3.example.org/bucket'],
    ['--to-s3 s3://bucket'],
    ['--to-data-dir ~/data'],
  ])('%s, with 2', async (words) => {
    using folder = temporaryFolder()
    const { code, errors } = await holdfast(folder.path, ['relocate', ...words.split(' ')])
    expect(code).toBe(2)
    expect(errors).toStartWith('error: ')
  })

  test.each([
    ['--to-database', 'postgres://nobody@127.0.0.1:9/none', 'HOLDFAST_DATABASE_URL'],
    ['--to-s3', 'http://127.0.0.1:9/bucket', 'HOLDFAST_S3_ENDPOINT'],
    ['--to-data-dir', '/proc/holdfast', 'HOLDFAST_DATA_DIR'],
  ])('a target that cannot be opened, in words of its own option: %s', async (option, place, setting) => {
    using folder = home()
    await furnish(folder.place, 0)
    const key = { S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret', S3_REGION: 'here' }
    const { code, errors } = await relocate({ ...folder.place, ...(option === '--to-s3' ? key : {}) }, [
      option,
      place,
    ])
    expect(code).toBe(1)
    expect(errors).toContain(option)
    expect(errors).not.toContain(setting)
    await (await serve(folder.place)).stop()
  })

  test('a bucket without the key that opens it', async () => {
    using folder = temporaryFolder()
    const words = ['relocate', '--to-s3', 'https://s3.example.org/bucket']
    const { code, errors } = await holdfast(folder.path, words)
    expect(code).toBe(1)
    expect(errors).toContain('HOLDFAST_S3_SECRET_ACCESS_KEY')
  })
})
