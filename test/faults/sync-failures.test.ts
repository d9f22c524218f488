// Only in test:all: many starts of the program.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDiskBlobs } from '../../src/blobs/disk.ts'
import { openDataFolder } from '../../src/data-folder.ts'
import { systemRandom } from '../../src/domain/random.ts'
import { chance } from '../support/chance.ts'
import { api } from '../support/clients/api.ts'
import { caller, readBack, sha256 } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import { expectStorageUnavailable, sendWhole } from '../support/network/whole-upload.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { openBlobs } from '../support/processes/open-files.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { finishedBlobs, unfinishedBlobs } from '../support/storage/blob-folder.ts'
import { inputOutputError, type Step, type WatchedDisk, watchDisk } from '../support/storage/watched-disk.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** Of a file that is stored in one piece. */
const SMALL = 100 * KIB
/** Of a file that is stored as it comes. */
const STREAMED = 300 * KIB
/** Over the 4 MiB after which a growing file is synced beside the writing. */
const BIG = 5 * MIB

const isOfBytes = ({ how, path }: Step) => how === 'datasync' && path.includes('/blobs/tmp/')
const isOfProbe = ({ how, path }: Step) => how === 'sync' && path.includes('/blobs/tmp/')
const isOfShard = ({ how, path }: Step) => how === 'sync' && /\/blobs\/[0-9a-f]{2}$/.test(path)
const isOfWhole = ({ how, path }: Step) => how === 'datasync' && /\/blobs\/[0-9a-f]{2}\//.test(path)
const isRename = ({ how }: Step) => how === 'rename'

interface Fault {
  /** Of the upload that meets it, bytes. */
  readonly size: number
  /** Whether the step fails; the syncs of the probe do in any case. */
  readonly fails: (step: Step) => boolean
  /** Every step of the upload, up to the one that fails. */
  readonly asked: readonly Step['how'][]
}

const faults: readonly [string, Fault][] = [
  ['the last sync of its bytes', { size: STREAMED, fails: isOfBytes, asked: ['datasync'] }],
  ['a sync beside the writing', { size: BIG, fails: isOfBytes, asked: ['datasync'] }],
  ['the renaming of its file', { size: STREAMED, fails: isRename, asked: ['datasync', 'rename'] }],
  [
    'the sync of the folder it is renamed into',
    // And once more when its file is removed again.
    { size: STREAMED, fails: isOfShard, asked: ['datasync', 'rename', 'sync', 'sync'] },
  ],
  ['the sync of a small file', { size: SMALL, fails: isOfWhole, asked: ['datasync', 'sync', 'sync'] }],
  [
    'the sync of the folder of a small file',
    { size: SMALL, fails: isOfShard, asked: ['datasync', 'sync', 'sync'] },
  ],
]

describe.each(faults)('an upload for which %s fails', (_, fault) => {
  test('is refused and never tried again, and nothing of it stays', async () => {
    await using host = await brokenBy(fault)
    expect(askedByUploads(host.disk)).toEqual([...fault.asked])
    await eventually('its room is free', () => reserved(host.holdfast).reservations === 0)
    expect(reserved(host.holdfast)).toEqual({ reservations: 0, bytes: 0 })
    expect(unfinishedBlobs(host.holdfast.dataDir)).toEqual([])
    expect(finishedBlobs(host.holdfast.dataDir)).toHaveLength(1)
    expect(openBlobs(process.pid, host.holdfast.dataDir)).toBe(0)
    expect(await host.account.account()).toMatchObject({ files_count: 1, storage_used: host.kept.size })
  })

  test('leaves a server that takes no upload and is not ready, but sends what it has', async () => {
    await using host = await brokenBy(fault)
    const { holdfast, disk, account, kept } = host
    for (let round = 0; round < 2; round++) {
      expectStorageUnavailable(await sendWhole(holdfast.url, account.key, chance(3).bytes(10)))
      holdfast.clock.advance(2_000)
      const ready = await api(holdfast).get('/ready')
      expect(ready).toMatchObject({ status: 503, body: { error: 'STORAGE_UNAVAILABLE', store: 'down' } })
      expect(ready.body).toMatchObject({ database: 'ok', message: expect.stringContaining('store') })
      await holdfast.runJobs()
    }
    // The refused uploads had not one byte stored. A job tries again to sync what was removed.
    const isOfBytesOrName = (how: Step['how']) => how !== 'sync'
    expect(askedByUploads(disk).filter(isOfBytesOrName)).toEqual(fault.asked.filter(isOfBytesOrName))
    expect(unfinishedBlobs(holdfast.dataDir)).toEqual([])
    expect(await api(holdfast).get('/health')).toMatchObject({ status: 200 })
    expect(await account.files()).toMatchObject([{ slug: kept.slug }])
    expect(await readBack(holdfast.url, kept.slug)).toMatchObject({ sha256: kept.sha256 })
  })

  test.each([
    ['the next job', (holdfast: TestHoldfast) => holdfast.runJobs()],
    ['the next question whether it is ready', (holdfast: TestHoldfast) => fetch(`${holdfast.url}/ready`)],
  ])('is taken once the disk works again and %s has tried it', async (_by, probe) => {
    await using host = await brokenBy(fault)
    const { holdfast, account } = host
    host.repair()
    await probe(holdfast)
    const content = chance(4).bytes(fault.size)
    expect(await sendWhole(holdfast.url, account.key, content)).toMatchObject({ status: 200 })
    const [newest] = await account.files()
    expect(await readBack(holdfast.url, newest?.slug ?? '')).toMatchObject({ sha256: sha256(content) })
    expect(await api(holdfast).get('/ready')).toMatchObject({ status: 200 })
    expect(await account.account()).toMatchObject({ files_count: 2 })
  })
})

describe('a sync beside the writing', () => {
  test('that failed once ends the upload at once, even if the disk says that all is well after that', async () => {
    await using host = await sound()
    const { holdfast, disk, account } = host
    disk.before = (step) => {
      if (isOfBytes(step) && disk.asked.filter(isOfBytes).length === 1) throw inputOutputError()
    }
    const upload = await openUpload(holdfast.url, { key: account.key, size: 3 * BIG })
    // The server answers in the middle, and closes.
    await upload.send(chance(1).bytes(BIG)).catch(() => {})
    await eventually('the file is synced', () => disk.asked.some(isOfBytes))
    // What comes is gathered in blocks: a failure shows with the next one that is full, if not before.
    let isAnswered = false
    const seen = () => {
      isAnswered = true
    }
    upload.answer.then(seen, seen)
    for (let pieces = 0; pieces < 80 && !isAnswered; pieces++) {
      await upload.send(chance(2).bytes(100 * KIB)).catch(() => {})
      await Bun.sleep(10)
    }
    expectStorageUnavailable(await upload.answer)
    expect(disk.asked.filter(isOfBytes)).toHaveLength(1)
    expect(finishedBlobs(holdfast.dataDir)).toHaveLength(1)
    expect(unfinishedBlobs(holdfast.dataDir)).toEqual([])
  })

  test('is waited for at the end, and its failure is the upload’s', async () => {
    await using host = await sound()
    const { holdfast, disk, account } = host
    const slow = Promise.withResolvers<void>()
    disk.before = (step) => (isOfBytes(step) ? slow.promise : undefined)
    const upload = await openUpload(holdfast.url, { key: account.key, size: BIG })
    await upload.send(chance(1).bytes(BIG))
    await eventually('the file is synced', () => disk.asked.some(isOfBytes))
    const answer = upload.finish()
    const first = await Promise.race([answer.then(() => 'the answer'), Bun.sleep(300).then(() => 'nothing')])
    expect(first).toBe('nothing')
    slow.reject(inputOutputError())
    expectStorageUnavailable(await answer)
    expect(disk.asked.filter(isOfBytes)).toHaveLength(1)
    expect(unfinishedBlobs(holdfast.dataDir)).toEqual([])
    expect(openBlobs(process.pid, holdfast.dataDir)).toBe(0)
  })
})

test.each([
  [
    'an upload is synced under a temporary name, renamed, and its folder synced',
    STREAMED,
    [
      ['datasync', '/tmp/x', 1, 1],
      ['rename', '/x/x', 1, 1],
      ['sync', '/x', 0, 2],
    ],
  ],
  [
    'a small one is synced under its own name, and its folder',
    SMALL,
    [
      ['datasync', '/x/x', 0, 2],
      ['sync', '/x', 0, 2],
    ],
  ],
] as const)('%s, all before its row is there', async (_, size, steps) => {
  await using host = await sound()
  const { holdfast, disk, account } = host
  const { dataDir } = holdfast
  const seen: unknown[] = []
  disk.before = (step) => {
    const place = step.path.slice(join(dataDir, 'blobs').length).replace(/[0-9a-f-]{2,}/g, 'x')
    seen.push([step.how, place, unfinishedBlobs(dataDir).length, finishedBlobs(dataDir).length])
    expect(filesInDatabase(holdfast)).toBe(1)
  }
  await account.upload(chance(1).bytes(size), 'new.bin')
  expect(seen).toEqual(steps.map((step) => [...step]))
  expect(filesInDatabase(holdfast)).toBe(2)
})

describe('a new data folder', () => {
  test('is synced with every folder above it that is new, and with the one they are named in', async () => {
    using above = temporaryFolder()
    using disk = await watchDisk()
    await openDataFolder(join(above.path, 'a/b/data'))
    const paths = disk.asked.map(({ path }) => path)
    expect(paths.toSorted()).toEqual(['', '/a', '/a/b', '/a/b/data'].map((path) => above.path + path))
  })

  test('that cannot be synced is not used', async () => {
    using above = temporaryFolder()
    using disk = await watchDisk()
    disk.before = ({ path }) => {
      if (path === above.path) throw inputOutputError()
    }
    await expect(openDataFolder(join(above.path, 'a/data'))).rejects.toMatchObject({ code: 'EIO' })
  })

  test('has all folders of the blob store made and synced before the first blob', async () => {
    using folder = temporaryFolder()
    using disk = await watchDisk()
    const foldersThen: number[] = []
    const blobs = join(folder.path, 'blobs')
    disk.before = ({ path }) => {
      if (path === blobs)
        foldersThen.push([...new Bun.Glob('*').scanSync({ cwd: blobs, onlyFiles: false })].length)
    }
    await openDiskBlobs(blobs, systemRandom, { alone: true })
    expect(disk.asked.map(({ path }) => path).toSorted()).toEqual([folder.path, blobs])
    expect(foldersThen).toEqual([258])
  })
})

interface Host extends AsyncDisposable {
  readonly holdfast: TestHoldfast
  readonly disk: WatchedDisk
  readonly account: ReturnType<typeof caller>
  /** A file that was uploaded before anything broke. */
  readonly kept: { readonly slug: string; readonly size: number; readonly sha256: string }
}

/** A server with one file, whose disk does as the test says. */
async function sound(): Promise<Host> {
  await using stack = new AsyncDisposableStack()
  const holdfast = stack.adopt(await startHoldfast(), (server) => server.stop())
  const account = caller(holdfast.url, (await holdfast.addAccount()).apiKey)
  const kept = await account.upload(chance(7).bytes(50 * KIB), 'kept.bin')
  const disk = stack.use(await watchDisk())
  const all = stack.move()
  return { holdfast, disk, account, kept, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** The same, after an upload has met the fault and was refused. The disk stays broken until `repair`. */
async function brokenBy(fault: Fault): Promise<Host & { repair(): void }> {
  await using stack = new AsyncDisposableStack()
  const host = stack.use(await sound())
  const { holdfast, disk, account } = host
  disk.before = (step) => {
    if (fault.fails(step) || isOfProbe(step)) throw inputOutputError()
  }
  expectStorageUnavailable(await sendWhole(holdfast.url, account.key, chance(1).bytes(fault.size)))
  const all = stack.move()
  return {
    ...host,
    repair() {
      disk.before = () => {}
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

function askedByUploads(disk: WatchedDisk): Step['how'][] {
  return disk.asked.filter((step) => !isOfProbe(step)).map(({ how }) => how)
}

function reserved(holdfast: TestHoldfast): { reservations: number; bytes: number } {
  return inDatabase(
    holdfast,
    'select (select count(*) from reservations) as reservations, sum(storage_reserved) as bytes from accounts',
  )
}

function filesInDatabase(holdfast: TestHoldfast): number {
  return inDatabase<{ files: number }>(holdfast, 'select count(*) as files from files').files
}

function inDatabase<Row>(holdfast: TestHoldfast, sql: string): Row {
  using database = new Database(join(holdfast.dataDir, 'holdfast.sqlite'), { readonly: true })
  const row = database.query<Row, []>(sql).get()
  if (row === null) throw new Error(`no row for ${sql}`)
  return row
}
