/** A disk that cannot read some contents, or none: EIO for the real program, by a tracer. */
// Only in test:all: many starts of the program; test/server/operations/integrity/scrub.test.ts has the rule.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { chance } from '../support/chance.ts'
import { holdfast, MAIN, type Outcome, outcome } from '../support/cli/command.ts'
import { type Caller, caller, readBack, type Uploaded } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import {
  addAccount,
  type ChildSettings,
  logLines,
  startChild,
  temporaryFolder,
} from '../support/processes/child.ts'
import { failing } from '../support/processes/system-calls.ts'
import { describeWith } from '../support/processes/tools.ts'
import { finishedBlobs } from '../support/storage/blob-folder.ts'

const MIB = 1024 * 1024
const READ = ['pread64', 'read', 'preadv', 'preadv2']
const PROGRAM = [process.execPath, '--no-env-file', MAIN]
const SETTINGS = { MIN_FREE_SPACE: '1MB', SCRUB_DAYS: '0', SCRUB_RATE: '1GB' }
/** Threads for files, of which each counts its own calls. */
const FEW_THREADS = { UV_THREADPOOL_SIZE: '2' }

const checked = z.object({
  damaged: z.array(z.object({ slug: z.string(), reason: z.string() })),
  marked: z.number(),
  cleared: z.number(),
  repaired: z.array(z.string()),
})

describeWith(['strace'], 'a disk that cannot read', () => {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  let account: Caller
  let whole: Uploaded
  let large: Uploaded
  let zipped: Uploaded
  let zipFolder: string

  const serve = (settings: ChildSettings = {}, faults: readonly string[] = []) =>
    startChild(
      dataDir,
      { ...SETTINGS, ...settings },
      faults.length === 0 ? {} : { command: faults, environment: FEW_THREADS },
    )

  beforeAll(async () => {
    const { apiKey } = await addAccount(dataDir, 'ann')
    await using server = await serve()
    account = caller(server.url, apiKey)
    const upload = (seed: number, size: number, name: string, to?: string) =>
      account.upload(chance(seed).bytes(size), name, to)
    whole = await upload(1, 5000, 'whole.bin')
    large = await upload(2, 6 * MIB, 'large.bin')
    zipFolder = await account.createFolder('zipped')
    await upload(3, 3 * MIB, '1-sound.bin', zipFolder)
    zipped = await upload(4, 5000, '2-bad.bin', zipFolder)
    await server.stop()
  })
  afterAll(() => folder[Symbol.dispose]())

  /** Path of a content's bytes. */
  function pathOf({ slug }: Pick<Uploaded, 'slug'>): string {
    const { key } = row<{ key: string }>(
      `select blobs.key from files join blobs on blobs.id = files.blob_id where files.slug = '${slug}'`,
    )
    return join(dataDir, 'blobs', key.slice(0, 2), key)
  }

  function row<Row>(sql: string): Row {
    using database = new Database(join(dataDir, 'holdfast.sqlite'), { readonly: true })
    const found = database.query<Row, []>(sql).get()
    if (found === null) throw new Error(`no row for ${sql}`)
    return found
  }

  const marks = () =>
    row<{ marks: number }>('select count(*) as marks from blobs where damaged_key = key').marks

  async function check(
    words: readonly string[],
    faults: readonly string[] = [],
    settings: ChildSettings = {},
  ): Promise<Outcome> {
    const variables = Object.entries({ DATA_DIR: dataDir, ...settings }).map(([name, value]) => [
      `HOLDFAST_${name}`,
      value,
    ])
    return outcome(
      [...faults, ...PROGRAM, 'check', '--json', ...words],
      folder.path,
      Object.fromEntries(variables),
    )
  }

  const found = ({ code, output }: Outcome) => ({ code, ...checked.parse(JSON.parse(output)) })

  /** Without faults all is well again. */
  async function clear(cleared: number): Promise<void> {
    expect(found(await check(['--read-data']))).toMatchObject({ code: 0, damaged: [], cleared })
  }

  test.each([
    ['its bytes', READ, ['--read-data']],
    ['its file opened', ['openat', 'open'], ['--read-data']],
    ['its size looked up', ['statx', 'newfstatat', 'lstat'], []],
  ])(
    'a content that cannot have %s is damage with a reason of its own, until it can',
    async (_, calls, words) => {
      const faults = failing({ paths: [pathOf(large)], calls, error: 'EIO' })
      expect(found(await check([...words, '--dry-run'], faults))).toMatchObject({ code: 3, marked: 0 })
      expect(found(await check(words, faults))).toMatchObject({
        code: 3,
        damaged: [{ slug: large.slug, reason: 'unreadable' }],
        marked: 1,
      })
      expect(marks()).toBe(1)
      await clear(1)
    },
  )

  test('no content counts as damaged while none can be read', async () => {
    const paths = finishedBlobs(dataDir).map((key) => join(dataDir, 'blobs', key.slice(0, 2), key))
    for (const words of [['--read-data'], ['--read-data', '--mark-many'], ['--read-data', '--dry-run']]) {
      const { code, errors } = await check(words, failing({ paths, calls: READ, error: 'EIO' }))
      expect(code).toBe(1)
      expect(errors).toContain('the store cannot be read')
    }
    expect(marks()).toBe(0)
  })

  test('a store whose own mark cannot be read is not looked at', async () => {
    const paths = [join(dataDir, 'blobs/mark')]
    expect((await check(['--read-data'], failing({ paths, calls: READ, error: 'EIO' }))).code).toBe(1)
    expect(marks()).toBe(0)
  })

  test('what cannot be read comes back from a backup and from the mirror', async () => {
    const variables = { HOLDFAST_DATA_DIR: dataDir }
    const backup = join(folder.path, 'backup')
    const mirror = { MIRROR: join(folder.path, 'mirror') }
    expect((await holdfast(folder.path, ['backup', backup], variables)).code).toBe(0)
    const copying = await holdfast(folder.path, ['mirror', '--now'], {
      ...variables,
      HOLDFAST_MIRROR: mirror.MIRROR,
    })
    expect(copying.code).toBe(0)
    const copies = Array.from(new Bun.Glob('??/*').scanSync({ cwd: mirror.MIRROR, absolute: true }))
    const blind = await outcome(
      [...failing({ paths: copies, calls: READ, error: 'EIO' }), ...PROGRAM, 'mirror', '--read-data'],
      folder.path,
      { ...variables, HOLDFAST_MIRROR: mirror.MIRROR },
    )
    // Its copies are not forgotten one by one.
    expect(blind).toMatchObject({ code: 1, errors: expect.stringContaining('the store cannot be read') })
    for (const [words, settings] of [
      [['--from', backup], {}],
      [['--repair'], mirror],
    ] as const) {
      const before = pathOf(large)
      const faults = failing({ paths: [before], calls: READ, error: 'EIO' })
      const healed = found(await check(['--read-data', ...words], faults, settings))
      expect(healed).toMatchObject({ code: 3, damaged: [{ reason: 'unreadable' }], marked: 0 })
      expect(healed.repaired).toHaveLength(1)
      expect(pathOf(large)).not.toBe(before)
      await clear(0)
    }
  })

  test.each([['false'], ['true']])(
    'a download that meets it breaks off and is never whole, with HOLDFAST_VERIFY_READS=%s',
    async (verifies) => {
      const faults = failing({ paths: [pathOf(large)], calls: READ, error: 'EIO', from: 2 })
      await using server = await serve({ VERIFY_READS: verifies }, faults)
      const broken = await fetched(`${server.url}/d/${large.slug}?download=1`)
      expect(broken).toMatchObject({ status: 200, isBroken: true })
      expect(broken.bytes).toBeLessThan(6 * MIB)
      await eventually('the log tells of it', () =>
        logLines(server.output()).some(({ level, slug }) => level === 'error' && slug === large.slug),
      )
      await eventually('it is marked', () => marks() === 1)
      expect(await fetched(`${server.url}/d/${large.slug}?download=1`)).toMatchObject({ status: 500 })
      expect(await readBack(server.url, whole.slug)).toMatchObject({ sha256: whole.sha256 })
      expect((await fetch(`${server.url}/ready`)).status).toBe(200)
      await server.stop()
      await clear(1)
    },
  )

  test('a zip that meets it breaks off, and leaves it out once it is marked', async () => {
    // Every read fails: which thread reads a file of one chunk is chance, and each counts its own calls.
    const faults = failing({ paths: [pathOf(zipped)], calls: READ, error: 'EIO' })
    await using server = await serve({}, faults)
    const address = `${server.url}/f/${zipFolder}?download=zip`
    expect(await fetched(address)).toMatchObject({ status: 200, isBroken: true })
    await eventually('it is marked', () => marks() === 1)
    expect(await fetched(address)).toMatchObject({ status: 200, isBroken: false })
    await server.stop()
    await clear(1)
  })
})

/** What came of the body. */
async function fetched(address: string): Promise<{ status: number; bytes: number; isBroken: boolean }> {
  const { status, body } = await fetch(address)
  let bytes = 0
  try {
    for await (const chunk of body ?? []) bytes += chunk.length
    return { status, bytes, isBroken: false }
  } catch {
    return { status, bytes, isBroken: true }
  }
}
