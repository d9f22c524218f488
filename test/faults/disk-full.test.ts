import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { chance } from '../support/chance.ts'
import { caller, readBack, sha256 } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import { openUpload, type RawAnswer } from '../support/network/raw-upload.ts'
import { expectStorageUnavailable, sendWhole } from '../support/network/whole-upload.ts'
import { addAccount, type ChildSettings, startChild } from '../support/processes/child.ts'
import { reportNotRun } from '../support/processes/not-run.ts'
import { startHoldfast } from '../support/servers/holdfast.ts'
import { finishedBlobs, inconsistencies, unfinishedBlobs } from '../support/storage/blob-folder.ts'
import { smallDisk, whyNoSmallDisk } from '../support/storage/small-disk.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** Small enough that a refused upload is answered, whatever of it is still on its way. */
const PIECE = 900 * KIB
/** The log of the database, which is written back every 16 MiB, has to fit beside what uploads may take. */
const FLOOR = 18 * MIB
const SETTINGS: ChildSettings = {
  MIN_FREE_SPACE: String(FLOOR),
  RATE_LIMIT: '1000000',
  STORAGE_LIMIT: '64MB',
}

const obstacle = whyNoSmallDisk()
if (obstacle !== null) {
  reportNotRun('a full disk', obstacle)
  test.if(process.env.CI === 'true')('a small disk can be mounted', () => {
    throw new Error(obstacle)
  })
}

describe.skipIf(obstacle !== null)('a full disk', () => {
  test('refuses uploads, keeps nothing of them, and takes files again once some are purged', async () => {
    using disk = smallDisk(44)
    const dataDir = join(disk.path, 'data')
    await using stack = new AsyncDisposableStack()
    const holdfast = stack.adopt(await startHoldfast({ dataDir, minFreeSpace: FLOOR }), (server) =>
      server.stop(),
    )
    const { apiKey: key } = await holdfast.addAccount()
    const account = caller(holdfast.url, key)

    const content = chance(1)
    const kept = new Map<string, string>()
    let refused: RawAnswer | null = null
    while (refused === null) {
      const bytes = content.bytes(PIECE)
      const answer = await sendWhole(holdfast.url, key, bytes)
      if (answer.status === 200) kept.set(slugOf(answer), sha256(bytes))
      else refused = answer
    }
    expectStorageUnavailable(refused)
    const ready = await fetch(`${holdfast.url}/ready`)
    expect({ status: ready.status, body: await ready.json() }).toMatchObject({
      status: 200,
      body: { status: 'ready', uploads: false },
    })
    expect(kept.size).toBeGreaterThan(10)
    expect(unfinishedBlobs(dataDir)).toEqual([])
    expect(finishedBlobs(dataDir).length).toBe(kept.size)
    expect(await account.account()).toMatchObject({ files_count: kept.size, storage_used: kept.size * PIECE })
    for (const [slug, hash] of kept)
      expect(await readBack(holdfast.url, slug)).toMatchObject({ sha256: hash })

    await account.deleteFiles([...kept.keys()].slice(0, 13))
    await holdfast.runJobs()
    // Bytes of deleted files stay a minute for those who are reading them.
    holdfast.clock.advance(2 * 60_000)
    await holdfast.runJobs()
    for (let upload = 0; upload < 9; upload++) {
      expect(await sendWhole(holdfast.url, key, content.bytes(PIECE))).toMatchObject({ status: 200 })
    }
    expect(inconsistencies(dataDir, { cleaned: true })).toEqual([])
  })

  test('with nothing left still lets files be deleted, also after a restart, and keeps the space for that again', async () => {
    using disk = smallDisk(64)
    const dataDir = join(disk.path, 'data')
    await using stack = new AsyncDisposableStack()
    const holdfast = stack.adopt(await startHoldfast({ dataDir, minFreeSpace: FLOOR }), (server) =>
      server.stop(),
    )
    const { apiKey: key } = await holdfast.addAccount()
    const slugs: string[] = []
    for (const seed of [1, 2, 3]) {
      slugs.push(slugOf(await sendWhole(holdfast.url, key, chance(seed).bytes(PIECE))))
    }
    await holdfast.runJobs()

    let takeAway = () => {}
    await holdfast.restart(() => {
      takeAway = disk.fill()
    })
    const account = caller(holdfast.url, key)
    const [one = '', two = '', three = ''] = slugs
    expect((await readBack(holdfast.url, two)).sha256).toBe(sha256(chance(2).bytes(PIECE)))
    await account.deleteFiles([one])

    takeAway()
    await holdfast.runJobs()
    disk.fill()
    await holdfast.runJobs()
    await account.deleteFiles([two])
    await holdfast.runJobs()
    holdfast.clock.advance(2 * 60_000)
    await holdfast.runJobs()
    expect(finishedBlobs(holdfast.dataDir).length).toBe(1)
    expect((await readBack(holdfast.url, three)).sha256).toBe(sha256(chance(3).bytes(PIECE)))
  })

  test('takes as many of several uploads at once as fit, and refuses the rest', async () => {
    using disk = smallDisk(44)
    const dataDir = join(disk.path, 'data')
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
    using disk = smallDisk(44)
    const dataDir = join(disk.path, 'data')
    const { apiKey: key } = await addAccount(dataDir, 'runs-out')
    await using server = await startChild(dataDir, { ...SETTINGS, STORAGE_LIMIT: '10MB' })
    const account = caller(server.url, key)
    const first = await account.upload(chance(1).bytes(PIECE), 'first.bin')
    const upload = await openUpload(server.url, { key, size: 8 * MIB })
    await upload.send(chance(2).bytes(2 * MIB))
    await eventually('the upload has begun', () => unfinishedBlobs(dataDir).length === 1)

    const takeAway = disk.fill()
    await upload.send(chance(3).bytes(2 * MIB))
    expectStorageUnavailable(await upload.answer)
    expect(await readBack(server.url, first.slug)).toMatchObject({ sha256: first.sha256 })
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    await eventually('nothing unfinished stays', () => unfinishedBlobs(dataDir).length === 0)
    const takeRest = disk.fill()
    expectStorageUnavailable(await sendWhole(server.url, key, chance(4).bytes(PIECE)))

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
      async () => (await sendWhole(server.url, key, chance(5).bytes(10 * MIB - PIECE))).status === 200,
      90,
    )
    expect(await account.account()).toMatchObject({ files_count: 2, storage_used: 10 * MIB })
    await server.stop()
    expect(inconsistencies(dataDir, { cleaned: true })).toEqual([])
  }, 300_000)
})

function slugOf(answer: RawAnswer): string {
  const { slug } = JSON.parse(answer.body)
  return String(slug)
}
