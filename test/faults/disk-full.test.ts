import { describe, expect, test } from 'bun:test'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finishedBlobs, inconsistencies, unfinishedBlobs } from '../support/blob-folder.ts'
import { caller, readBack, sha256 } from '../support/caller.ts'
import { chance } from '../support/chance.ts'
import { addAccount, type ChildSettings, startChild } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast } from '../support/holdfast.ts'
import { openUpload, type RawAnswer } from '../support/raw-upload.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** Small enough that a refused upload is answered, whatever of it is still on its way. */
const PIECE = 900 * KIB
const SETTINGS: ChildSettings = { MIN_FREE_SPACE: '1MB', RATE_LIMIT: '1000000', STORAGE_LIMIT: '64MB' }

interface SmallDisk {
  readonly dataDir: string
  /** Writes a file beside the data until not one page is left; returns what takes it away again. */
  fill(name: string): () => void
  [Symbol.dispose](): void
}

const obstacle = whyNoMount()
if (obstacle !== null) console.warn(`disk-full: ${obstacle}`)

if (obstacle !== null && process.env.CI === 'true') {
  test('a small disk can be mounted', () => {
    throw new Error(obstacle)
  })
}

describe.skipIf(obstacle !== null)('a full disk', () => {
  test('refuses uploads, keeps nothing of them, and takes files again once some are purged', async () => {
    using disk = smallDisk()
    const { dataDir } = disk
    await using stack = new AsyncDisposableStack()
    const holdfast = stack.adopt(await startHoldfast({ dataDir, minFreeSpace: 1 * MIB }), (server) =>
      server.stop(),
    )
    const { apiKey: key } = await holdfast.addAccount()
    const account = caller(holdfast.url, key)

    const content = chance(1)
    const kept = new Map<string, string>()
    let refused: RawAnswer | null = null
    while (refused === null) {
      const bytes = content.bytes(PIECE)
      const answer = await send(holdfast, key, bytes)
      if (answer.status === 200) kept.set(slugOf(answer), sha256(bytes))
      else refused = answer
    }
    expectStorageUnavailable(refused)
    expect(kept.size).toBeGreaterThan(10)
    expect(unfinishedBlobs(dataDir)).toEqual([])
    expect(finishedBlobs(dataDir).length).toBe(kept.size)
    expect(await account.account()).toMatchObject({ files_count: kept.size, storage_used: kept.size * PIECE })
    for (const [slug, hash] of kept)
      expect(await readBack(holdfast.url, slug)).toMatchObject({ sha256: hash })

    await account.deleteFiles([...kept.keys()].slice(0, 10))
    await holdfast.runJobs()
    // Bytes of deleted files stay a minute for those who are reading them.
    holdfast.clock.advance(2 * 60_000)
    await holdfast.runJobs()
    for (let upload = 0; upload < 9; upload++) {
      expect(await send(holdfast, key, content.bytes(PIECE))).toMatchObject({ status: 200 })
    }
    expect(inconsistencies(dataDir, { cleaned: true })).toEqual([])
  })

  test('takes as many of several uploads at once as fit, and refuses the rest', async () => {
    using disk = smallDisk()
    const { dataDir } = disk
    const { apiKey: key } = await addAccount(dataDir, 'together')
    await using server = await startChild(dataDir, SETTINGS)
    const uploads = await Promise.all(
      Array.from({ length: 6 }, () => openUpload(server.url, { key, size: null })),
    )
    const answers = await Promise.all(
      uploads.map(async (upload, number) => {
        const content = chance(number)
        // An upload that was refused half-way takes no more bytes; its answer has come by then.
        const sent = (async () => {
          for (let piece = 0; piece < 10; piece++) await upload.send(content.bytes(PIECE))
          await upload.finish()
        })().catch(() => {})
        return Promise.race([upload.answer, sent.then(() => upload.answer)]).catch(() => null)
      }),
    )
    const stored = answers.filter((answer) => answer?.status === 200).length
    expect(stored).toBeLessThan(6)
    for (const answer of answers)
      if (answer !== null && answer.status !== 200) expectStorageUnavailable(answer)
    await eventually('nothing unfinished stays', () => unfinishedBlobs(dataDir).length === 0)
    expect(finishedBlobs(dataDir).length).toBe(stored)
    expect(await caller(server.url, key).account()).toMatchObject({ files_count: stored })
    await server.stop()
    expect(inconsistencies(dataDir, { cleaned: true })).toEqual([])
  })

  test('that has not one page left fails a running upload, and the server goes on when there is room', async () => {
    using disk = smallDisk()
    const { dataDir } = disk
    const { apiKey: key } = await addAccount(dataDir, 'runs-out')
    await using server = await startChild(dataDir, { ...SETTINGS, STORAGE_LIMIT: '10MB' })
    const account = caller(server.url, key)
    const first = await account.upload(chance(1).bytes(PIECE), 'first.bin')
    const upload = await openUpload(server.url, { key, size: 8 * MIB })
    await upload.send(chance(2).bytes(2 * MIB))
    await eventually('the upload has begun', () => unfinishedBlobs(dataDir).length === 1)

    const takeAway = disk.fill('filler')
    await upload.send(chance(3).bytes(2 * MIB))
    expectStorageUnavailable(await upload.answer)
    expect(await readBack(server.url, first.slug)).toMatchObject({ sha256: first.sha256 })
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    await eventually('nothing unfinished stays', () => unfinishedBlobs(dataDir).length === 0)
    const takeRest = disk.fill('what the upload had taken')
    expectStorageUnavailable(await send(server, key, chance(4).bytes(PIECE)))

    takeAway()
    takeRest()
    await eventually(
      'the server is ready',
      async () => (await fetch(`${server.url}/ready`)).status === 200,
      90,
    )
    // All the room that the failed upload had reserved is free again.
    await eventually(
      'an upload of all the room left is taken',
      async () => (await send(server, key, chance(5).bytes(10 * MIB - PIECE))).status === 200,
      90,
    )
    expect(await account.account()).toMatchObject({ files_count: 2, storage_used: 10 * MIB })
    await server.stop()
    expect(inconsistencies(dataDir, { cleaned: true })).toEqual([])
  }, 120_000)
})

async function send(server: { readonly url: string }, key: string, content: Uint8Array): Promise<RawAnswer> {
  const upload = await openUpload(server.url, { key, size: content.length })
  // Bytes that the server no longer wants are no failure of the test: the answer tells.
  await upload.send(content).catch(() => {})
  return upload.finish().catch(() => upload.answer)
}

function slugOf(answer: RawAnswer): string {
  const { slug } = JSON.parse(answer.body)
  return String(slug)
}

function expectStorageUnavailable({ status, headers, body }: RawAnswer): void {
  expect({ status, body: JSON.parse(body) }).toMatchObject({
    status: 503,
    body: { success: false, error: 'STORAGE_UNAVAILABLE' },
  })
  expect(headers.get('retry-after')).toMatch(/^\d+$/)
}

/** A data folder on a disk of its own, of 32 MB; it is unmounted when it goes out of scope. */
function smallDisk(): SmallDisk {
  const mountPoint = mkdtempSync(join(tmpdir(), 'holdfast-disk-'))
  const failure = mount(mountPoint)
  if (failure !== null) throw new Error(failure)
  const unmount = () => {
    // Lazily: a server that is still dying must not keep the disk.
    Bun.spawnSync(['umount', '--lazy', mountPoint])
    rmdirSync(mountPoint)
    process.off('exit', unmount)
  }
  process.on('exit', unmount)
  const dataDir = join(mountPoint, 'data')
  mkdirSync(dataDir)
  return {
    dataDir,
    fill(name) {
      const path = join(mountPoint, name)
      const file = openSync(path, 'w')
      const page = new Uint8Array(4 * KIB)
      try {
        for (;;) writeSync(file, page)
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      } finally {
        closeSync(file)
      }
      return () => rmSync(path)
    },
    [Symbol.dispose]: unmount,
  }
}

/** What stands in the way of mounting a small disk, or null. */
function whyNoMount(): string | null {
  if (process.getuid?.() !== 0) return 'skipped, because only root may mount a small disk'
  const probe = mkdtempSync(join(tmpdir(), 'holdfast-disk-'))
  const failure = mount(probe)
  if (failure === null) Bun.spawnSync(['umount', probe])
  rmdirSync(probe)
  return failure === null ? null : `skipped, because this root may not mount a small disk: ${failure}`
}

function mount(mountPoint: string): string | null {
  try {
    const { exitCode, stderr } = Bun.spawnSync([
      'mount',
      '-t',
      'tmpfs',
      '-o',
      'size=32m',
      'tmpfs',
      mountPoint,
    ])
    return exitCode === 0 ? null : `mount ended with ${exitCode}: ${stderr.toString().trim()}`
  } catch (error) {
    return `mount could not be run: ${error}`
  }
}
