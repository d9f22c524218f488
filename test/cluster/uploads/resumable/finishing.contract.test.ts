/** What a job goes on with after the last byte has come, where the disk has no space or has lost something. */
import { describe, expect, test } from 'bun:test'
import { truncateSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ResumableWriter } from '../../../../src/blobs/blob-store.ts'
import { createSigning } from '../../../../src/core/hmac.ts'
import { joinNodes } from '../../../../src/core/nodes/nodes.ts'
import { createOutages } from '../../../../src/core/outages.ts'
import { createStoreHealth } from '../../../../src/core/store/store-health.ts'
import type { BlobProgress, UploadToken } from '../../../../src/domain/ids.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { createLog } from '../../../../src/log.ts'
import { noThumbnails } from '../../../../src/thumbnails/thumbnails.ts'
import { FileCommit } from '../../../../src/uploads/commit.ts'
import { Contributions } from '../../../../src/uploads/contributions.ts'
import { startContentHashing } from '../../../../src/uploads/hashing/content-hash.ts'
import { Reservations } from '../../../../src/uploads/reservations.ts'
import { createResumable } from '../../../../src/uploads/uploads.module.ts'
import { NOWHERE } from '../../../support/node-place.ts'
import { buildParts } from '../../../support/servers/parts.ts'
import { overridden } from '../../../support/storage/overridden.ts'

const GIB = 1024 ** 3
const CONTENT = new Uint8Array(1000).fill(7)

type Fixture = Awaited<ReturnType<typeof fixture>>

async function fixture() {
  const parts = await buildParts()
  const { db, rates, clock, reported, caller } = parts
  let free: number | null = null
  let session: (session: ResumableWriter) => ResumableWriter = (same) => same
  const waits: string[] = []
  const report = (error: unknown) => void reported.push(error)
  const log = createLog('silent', { terminal: false })
  const nodes = await joinNodes({ db, clock, random: systemRandom, log, alone: true, place: NOWHERE })
  const blobs = overridden(parts.blobs, {
    freeSpace: async () => free,
    resume: async (key, kept) => session(await parts.blobs.resume(key, kept)),
  })
  const limits = {
    storageLimit: GIB,
    guestStorage: GIB,
    guestHourlySize: GIB,
    minFreeSpace: 0,
    maxFileSize: GIB,
    maxFolderDepth: 10,
    uploadExpires: 24,
  }
  const signing = createSigning('a secret of this test')
  const databaseSpace = async () => null
  const hashing = startContentHashing()
  const health = createStoreHealth(blobs, report)
  const shared = { db, blobs, rates, nodes, clock, limits, report, random: systemRandom }
  const reservations = new Reservations({ ...shared, databaseSpace })
  const commit = new FileCommit({ ...shared, health, thumbnails: noThumbnails, uploaded() {} })
  const { uploads, finishing } = createResumable({
    ...shared,
    reservations,
    commit,
    health,
    hashing,
    contributions: new Contributions({ db, signing, clock, keepsAddresses: false }),
    admitGuest: async () => {},
    admitContributor: async () => {},
    isShared: false,
    outages: await createOutages({ db, clock, timers: clock, log }),
    signing,
    waitsForSpace: ({ slug }) => waits.push(slug),
  })
  const about = {
    place: 'root',
    namesFolder: false,
    path: [],
    name: 'a.bin',
    declaredType: null,
    metadata: '',
  } as const

  async function newPart(): Promise<UploadToken> {
    const content = { kind: 'partial', size: CONTENT.length, concat: 'partial' } as const
    return (await uploads.create(caller, { ...about, content })).token
  }

  /** Two seconds pass before each chunk. */
  async function append(token: UploadToken, chunks: readonly Uint8Array[], offset = 0): Promise<string> {
    const left = chunks.values()
    const read = async () => {
      clock.advance(2000)
      const { done = false, value } = left.next()
      return { done, value }
    }
    const source = { read, quietFor: () => 0, end() {} }
    const bytes = { offset, size: null, length: null, checksum: null, source }
    return (await uploads.append(caller, token, bytes)).state
  }

  async function part(bytes: Uint8Array): Promise<UploadToken> {
    const token = await newPart()
    await append(token, [bytes])
    return token
  }

  return {
    ...parts,
    uploads,
    finishing,
    health,
    waits,
    newPart,
    append,
    part,
    about,
    setFree(bytes: number | null) {
      free = bytes
    },
    wrapSessions(wrap: (session: ResumableWriter) => ResumableWriter) {
      session = wrap
    },
    async [Symbol.asyncDispose]() {
      hashing.close()
      await parts[Symbol.asyncDispose]()
    },
  }
}

test('parts that wait for free space to be concatenated are told of once, and are no failure', async () => {
  await using it = await fixture()
  const tokens = [await it.part(CONTENT), await it.part(CONTENT)]
  it.setFree(CONTENT.length)
  const content = { kind: 'final', parts: tokens, concat: 'final;', key: null } as const
  const { token } = await it.uploads.create(it.caller, { ...it.about, content })
  for (let run = 0; run < 5; run++) await it.finishing.resumeAll()
  const { slug, state } = await it.uploads.find(it.caller, token)
  expect({ state, waits: it.waits, reported: it.reported }).toEqual({
    state: 'processing',
    waits: [slug],
    reported: [],
  })
  it.setFree(null)
  await it.finishing.resumeAll()
  expect(await it.uploads.find(it.caller, token)).toMatchObject({ state: 'completed' })
  expect({ waits: it.waits, reported: it.reported }).toEqual({ waits: [slug], reported: [] })
})

test('bytes that the disk has lost fail their upload alone: the store goes on', async () => {
  await using it = await fixture()
  const token = await it.part(CONTENT.slice(0, 600))
  for (const name of await readdir(it.folder, { recursive: true })) {
    const path = join(it.folder, name)
    if ((await Bun.file(path).exists()) && Bun.file(path).size === 600) truncateSync(path, 599)
  }
  const source = { read: async () => ({ done: true }), quietFor: () => 0, end() {} }
  const next = { offset: 600, size: null, length: null, checksum: null, source }
  await expect(it.uploads.append(it.caller, token, next)).rejects.toMatchObject({ code: 'UPLOAD_GONE' })
  await expect(it.uploads.find(it.caller, token)).rejects.toMatchObject({ code: 'UPLOAD_GONE' })
  expect(() => it.health.assertUsable()).not.toThrow()
  expect(it.reported).toHaveLength(1)
  await it.store('still works', 'b.txt')
})

describe('an offset that is not the sum of the appends is not recorded', () => {
  const FOREIGN = { progress: 'disk' as BlobProgress }
  const violated = { name: 'InvariantViolated', invariant: 'offset-is-sum-of-appends' }
  const half = CONTENT.subarray(0, 500)

  test.each([499, 501])('when %d of 500 bytes are kept', async (offset) => {
    await using it = await fixture()
    it.wrapSessions((session) => overridden(session, { keep: async () => ({ ...FOREIGN, offset }) }))
    const token = await it.newPart()
    await expect(it.append(token, [half])).rejects.toMatchObject(violated)
    expect(await it.uploads.find(it.caller, token)).toMatchObject({ state: 'uploading', received: 0 })
  })

  test('when more is safe than was received', async () => {
    await using it = await fixture()
    it.wrapSessions((session) => overridden(session, { safe: () => ({ ...FOREIGN, offset: 501 }) }))
    const token = await it.newPart()
    await expect(it.append(token, [half, CONTENT.subarray(0, 1)])).rejects.toMatchObject(violated)
    expect(await it.uploads.find(it.caller, token)).toMatchObject({ state: 'uploading', received: 0 })
  })
})

describe('an upload whose folder goes while its file is made', () => {
  async function begun(it: Fixture) {
    const content = { kind: 'whole', size: CONTENT.length } as const
    const { token, upload } = await it.uploads.create(it.caller, { ...it.about, path: ['below'], content })
    const setDeleted = (deleted_at: number | null) =>
      it.db.updateTable('folders').set({ deleted_at }).where('id', '=', upload.folder_id).execute()
    it.wrapSessions((session) =>
      overridden(session, {
        async complete() {
          await setDeleted(1)
          return session.complete()
        },
      }),
    )
    const restore = async () => {
      it.wrapSessions((session) => session)
      await setDeleted(null)
    }
    return { token, restore }
  }

  const refused = { code: 'FOLDER_NOT_FOUND' }

  test('waits for the folder with all its bytes, and is no failure', async () => {
    await using it = await fixture()
    const { token, restore } = await begun(it)
    await it.append(token, [CONTENT.slice(0, 500)])
    await expect(it.append(token, [CONTENT.slice(500)], 500)).rejects.toMatchObject(refused)
    await it.finishing.resumeAll()
    await expect(it.append(token, [], 1000)).rejects.toMatchObject(refused)
    expect(await it.uploads.atRest(it.caller, token)).toMatchObject({ state: 'processing', received: 1000 })
    await restore()
    expect(await it.append(token, [], 1000)).toBe('completed')
    expect(it.reported).toEqual([])
  })

  test('goes on from its beginning where nothing of it was acknowledged', async () => {
    await using it = await fixture()
    const { token, restore } = await begun(it)
    await expect(it.append(token, [CONTENT])).rejects.toMatchObject(refused)
    expect(await it.uploads.atRest(it.caller, token)).toMatchObject({ state: 'uploading', received: 0 })
    await restore()
    expect(await it.append(token, [CONTENT])).toBe('completed')
    expect(it.reported).toEqual([])
  })
})
