/** Backups and the server's own reading on a disk that cannot read: EIO for the real program, by a tracer. */
// Only in test:all: many starts of the program; test/server/operations/integrity/scrub.test.ts has the rule.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { chance } from '../support/chance.ts'
import { holdfast, MAIN, type Outcome, outcome } from '../support/cli/command.ts'
import { type Caller, caller, type Uploaded } from '../support/clients/caller.ts'
import { catalogOf } from '../support/operations/backups.ts'
import { addAccount, startChild, temporaryFolder } from '../support/processes/child.ts'
import { failing } from '../support/processes/system-calls.ts'
import { describeWith } from '../support/processes/tools.ts'

const READ = ['pread64', 'read', 'preadv', 'preadv2']
const PROGRAM = [process.execPath, '--no-env-file', MAIN]
const SCRUB_ONCE = join(import.meta.dir, 'backups/scrub-once.ts')
const SETTINGS = { MIN_FREE_SPACE: '1MB' }
const damagedJson = z.object({ damaged: z.array(z.object({ slug: z.string(), reason: z.string() })) })

describeWith(['strace'], 'a disk that cannot read', () => {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const backup = join(folder.path, 'backup')
  let server: Caller
  let bad: Uploaded

  beforeAll(async () => {
    const { apiKey } = await addAccount(dataDir, 'ann')
    await using child = await startChild(dataDir, SETTINGS)
    server = caller(child.url, apiKey)
    await server.upload(chance(1).bytes(5000), 'good.bin')
    bad = await server.upload(chance(2).bytes(3_000_000), 'bad.bin')
    await child.stop()
    const { code } = await holdfast(folder.path, ['backup', backup], { HOLDFAST_DATA_DIR: dataDir })
    expect(code).toBe(0)
  })
  afterAll(() => folder[Symbol.dispose]())

  function rowOf<Row>(sql: string): Row | null {
    using database = new Database(join(dataDir, 'holdfast.sqlite'))
    return database.query<Row, []>(sql).get()
  }

  /** Path of the content of the bad file, below a folder with contents. */
  function pathOfBad(store: string): string {
    const row = rowOf<{ key: string }>(
      `select blobs.key from files join blobs on blobs.id = files.blob_id where files.slug = '${bad.slug}'`,
    )
    const key = row?.key ?? ''
    return join(store, key.slice(0, 2), key)
  }

  function run(words: readonly string[], place: string, faults: readonly string[] = []): Promise<Outcome> {
    return outcome([...faults, ...PROGRAM, ...words], folder.path, { HOLDFAST_DATA_DIR: place })
  }

  const damagedIn = ({ output }: Outcome) => damagedJson.parse(JSON.parse(output)).damaged

  test.each([
    ['its bytes', READ],
    ['its size looked up', ['statx', 'newfstatat', 'lstat']],
  ])('a backup names a content that cannot have %s, and has all others', async (_, calls) => {
    const target = join(folder.path, `target-${calls[0]}`)
    const faults = failing({ paths: [pathOfBad(join(dataDir, 'blobs'))], calls, error: 'EIO' })
    const made = await run(['backup', target, '--json'], dataDir, faults)
    expect({ ...made, output: '' }).toMatchObject({ code: 3 })
    expect(damagedIn(made)).toMatchObject([{ slug: bad.slug, reason: 'cannot be read' }])
  })

  test('a restore names a content that the disk of the backup cannot read, whose file is never whole', async () => {
    const place = join(folder.path, 'restored')
    const faults = failing({ paths: [pathOfBad(backup)], calls: READ, error: 'EIO' })
    const restored = await run(['restore', backup, '--json'], place, faults)
    expect(restored.code).toBe(3)
    expect(damagedIn(restored)).toMatchObject([{ slug: bad.slug, reason: 'cannot be read' }])
    await using child = await startChild(place, SETTINGS)
    const answer = await fetch(`${child.url}/d/${bad.slug}?download=1`)
    expect(answer.status).toBe(500)
    await answer.body?.cancel()
    await child.stop()
  })

  test('a restore without the rows of the point restores nothing, and says so', async () => {
    const place = join(folder.path, 'nothing')
    const { points } = (await catalogOf(backup)).catalog
    const { key = '' } = points[0] ?? {}
    const paths = [join(backup, key.slice(0, 2), key)]
    const restored = await run(['restore', backup], place, failing({ paths, calls: READ, error: 'EIO' }))
    expect(restored).toMatchObject({ code: 1, errors: expect.stringContaining('cannot be read') })
    // It begins anew in the same place.
    expect((await run(['restore', backup], place)).code).toBe(0)
  })

  test('what the server cannot read when it reads stored bytes again is marked, if it can read their mark', async () => {
    {
      using database = new Database(join(dataDir, 'holdfast.sqlite'))
      database.run('update blobs set created_at = 0')
    }
    const path = pathOfBad(join(dataDir, 'blobs'))
    const scrubbed = async (paths: readonly string[]) => {
      const command = [...failing({ paths, calls: READ, error: 'EIO' }), process.execPath, SCRUB_ONCE]
      const { code } = await outcome(command, folder.path, { HOLDFAST_DATA_DIR: dataDir })
      const { marks = 0, read = 0 } =
        rowOf<{ marks: number; read: number }>(
          "select sum(damage = 'unreadable') as marks, sum(verified_at is not null) as read from blobs",
        ) ?? {}
      return { code, marks: marks ?? 0, read }
    }
    expect(await scrubbed([path, join(dataDir, 'blobs/mark')])).toEqual({ code: 1, marks: 0, read: 1 })
    expect(await scrubbed([path])).toEqual({ code: 0, marks: 1, read: 1 })
  })
})
