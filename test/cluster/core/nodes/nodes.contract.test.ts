/** Nodes that know of each other, and what becomes of the uploads of those that die. */
import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccounts } from '../../../../src/accounts/accounts.ts'
import { createKeyHolders } from '../../../../src/accounts/authentication.ts'
import { openDiskBlobs } from '../../../../src/blobs/disk.ts'
import { createSigning } from '../../../../src/core/hmac.ts'
import {
  DEAD_AFTER,
  HEARTBEAT_INTERVAL,
  joinNodes,
  type Nodes,
  removeQuietNode,
} from '../../../../src/core/nodes/nodes.ts'
import { createRateLimits } from '../../../../src/core/rate-limits/rate-limits.ts'
import { createStoreHealth } from '../../../../src/core/store/store-health.ts'
import type { Database } from '../../../../src/database/database.ts'
import { MINUTE, SECOND } from '../../../../src/domain/clock.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { createCleaning } from '../../../../src/files/blob-cleaning.job.ts'
import { noThumbnails } from '../../../../src/thumbnails/thumbnails.ts'
import { FileCommit } from '../../../../src/uploads/commit.ts'
import { startContentHashing } from '../../../../src/uploads/hashing/content-hash.ts'
import { type RequestUpload, UploadStoring } from '../../../../src/uploads/request-uploads.ts'
import { Reservations } from '../../../../src/uploads/reservations.ts'
import { chance } from '../../../support/chance.ts'
import { type ContractDatabase, databases, sqliteDatabase } from '../../../support/databases/databases.ts'
import { lossyDatabase } from '../../../support/databases/lossy-database.ts'
import { type HandClock, handClock } from '../../../support/hand-clock.ts'
import { type KeptLog, keptLog } from '../../../support/kept-log.ts'
import { NOWHERE } from '../../../support/node-place.ts'
import { keysOf } from '../../../support/storage/blob-chunks.ts'

const MIB = 1024 ** 2
const TAKEN_FOR_DEAD = 'a node stands still and was taken for dead'

interface Parts {
  readonly db: Database
  readonly clock: HandClock
  readonly log: KeptLog
  /** One more node. */
  join(): Promise<Nodes>
}

function partsOf(database: ContractDatabase): Parts {
  const clock = handClock()
  const log = keptLog()
  return {
    db: database.db,
    clock,
    log,
    join: () =>
      joinNodes({ db: database.another(), clock, random: systemRandom, log, alone: false, place: NOWHERE }),
  }
}

const idsIn = async (db: Database) =>
  (await db.selectFrom('nodes').select('id').orderBy('id').execute()).map(({ id }) => id)

/** Lets time pass in the rhythm of the jobs: those nodes beat and look, the others stand still. */
async function pass({ clock }: Parts, milliseconds: number, living: readonly Nodes[]): Promise<void> {
  for (let gone = 0; gone < milliseconds; gone += HEARTBEAT_INTERVAL) {
    clock.advance(Math.min(HEARTBEAT_INTERVAL, milliseconds - gone))
    for (const node of living) await node.beat()
    for (const node of living) await node.removeDead()
  }
}

const both = databases('nodes')

describe.each(both)('nodes on %s', (_, open) => {
  test('that beat are never taken for dead', async () => {
    await using database = await open()
    const parts = partsOf(database)
    const nodes = [await parts.join(), await parts.join(), await parts.join()]
    const ids = nodes.map((node) => node.id()).sort()
    expect(new Set(ids).size).toBe(3)
    await pass(parts, 5 * MINUTE, nodes)
    expect(await idsIn(parts.db)).toEqual(ids)
    expect(nodes.map((node) => node.id()).sort()).toEqual(ids)
    expect(parts.log.lines).toEqual([])
  })

  test('are taken for dead when they have stood still for 30 seconds, and not before', async () => {
    await using database = await open()
    const parts = partsOf(database)
    const [watcher, still] = [await parts.join(), await parts.join()]
    await watcher.removeDead()
    await pass(parts, 30 * SECOND - 1, [watcher])
    expect(await idsIn(parts.db)).toContain(still.id())
    await pass(parts, 1, [watcher])
    expect(await idsIn(parts.db)).toEqual([watcher.id()])
    expect(parts.log.lines).toMatchObject([{ fields: { node: still.id() }, message: TAKEN_FOR_DEAD }])
  })

  test('that have stood still for a while and beat again begin a new while', async () => {
    await using database = await open()
    const parts = partsOf(database)
    const [watcher, slow] = [await parts.join(), await parts.join()]
    for (let round = 0; round < 5; round++) {
      await pass(parts, DEAD_AFTER - HEARTBEAT_INTERVAL, [watcher])
      await slow.beat()
    }
    expect(await idsIn(parts.db)).toContain(slow.id())
  })

  test('are not taken for dead for a time in which nobody could look', async () => {
    await using database = await open()
    const parts = partsOf(database)
    const [watcher, other] = [await parts.join(), await parts.join()]
    await watcher.removeDead()
    // The database was away for everybody, or the watcher itself stood still.
    parts.clock.advance(10 * MINUTE)
    await watcher.removeDead()
    await pass(parts, DEAD_AFTER - HEARTBEAT_INTERVAL, [watcher])
    expect(await idsIn(parts.db)).toContain(other.id())
    await pass(parts, HEARTBEAT_INTERVAL, [watcher])
    expect(await idsIn(parts.db)).not.toContain(other.id())
  })

  test('take nobody for dead by the wall clock', async () => {
    await using database = await open()
    const parts = partsOf(database)
    const [watcher, other] = [await parts.join(), await parts.join()]
    for (const leap of [-90, 90, 1000]) {
      await watcher.removeDead()
      parts.clock.leap(leap * MINUTE)
      await watcher.removeDead()
    }
    expect(await idsIn(parts.db)).toContain(other.id())
    expect(other.isSurelyAlive()).toBe(true)
  })

  test('that find one dead at the same time remove it once', async () => {
    await using database = await open()
    const parts = partsOf(database)
    const watchers = await Promise.all(Array.from({ length: 5 }, () => parts.join()))
    await parts.join()
    for (const watcher of watchers) await watcher.removeDead()
    await pass(parts, DEAD_AFTER - 1, watchers)
    parts.clock.advance(1)
    for (const watcher of watchers) await watcher.beat()
    await Promise.all(watchers.map((watcher) => watcher.removeDead()))
    expect(await idsIn(parts.db)).toEqual(watchers.map((watcher) => watcher.id()).sort())
    expect(parts.log.lines).toHaveLength(1)
  })

  test('that beat at the last moment are not removed by one that looked before that', async () => {
    await using database = await open()
    const parts = partsOf(database)
    const node = await parts.join()
    await node.beat()
    expect(await removeQuietNode(parts.db, node.id(), 0)).toBe(false)
    expect(await idsIn(parts.db)).toEqual([node.id()])
    expect(await removeQuietNode(parts.db, node.id(), 1)).toBe(true)
    expect(await removeQuietNode(parts.db, node.id(), 1)).toBe(false)
  })

  test('know that they may be taken for dead before anybody can do so, and join again under a new id', async () => {
    await using database = await open()
    const parts = partsOf(database)
    const [watcher, still] = [await parts.join(), await parts.join()]
    const before = still.id()
    await watcher.removeDead()
    while ((await idsIn(parts.db)).includes(before)) {
      await pass(parts, SECOND, [watcher])
      const isThere = (await idsIn(parts.db)).includes(before)
      expect({ isThere, isSure: still.isSurelyAlive() }).not.toEqual({ isThere: false, isSure: true })
    }
    expect(still.isSurelyAlive()).toBe(false)
    await still.beat()
    expect(still.isSurelyAlive()).toBe(true)
    expect(still.id()).not.toBe(before)
    expect(await idsIn(parts.db)).toEqual([watcher.id(), still.id()].sort())
    await pass(parts, MINUTE, [watcher, still])
    expect(await idsIn(parts.db)).toHaveLength(2)
  })

  test('that are unsure and were not taken for dead go on under their id', async () => {
    await using database = await open()
    const parts = partsOf(database)
    const node = await parts.join()
    const id = node.id()
    parts.clock.advance(10 * MINUTE)
    expect(node.isSurelyAlive()).toBe(false)
    await node.beat()
    expect(node.isSurelyAlive()).toBe(true)
    expect(node.id()).toBe(id)
  })

  test('that stop cleanly are gone at once', async () => {
    await using database = await open()
    const parts = partsOf(database)
    const [first, second] = [await parts.join(), await parts.join()]
    await second.leave()
    expect(await idsIn(parts.db)).toEqual([first.id()])
  })

  test('can stop while the database is away', async () => {
    await using database = await open()
    const lossy = lossyDatabase()
    const db = lossy.between(database.db)
    const log = keptLog()
    const node = await joinNodes({
      db,
      clock: handClock(),
      random: systemRandom,
      log,
      alone: false,
      place: NOWHERE,
    })
    lossy.loseNextAnswer('quiet')
    await expect(db.transaction().execute(async () => {})).rejects.toThrow()
    await expect(node.beat()).rejects.toThrow()
    await node.leave()
  })
})

describe('a node alone', () => {
  test('removes every earlier one as it joins, and neither beats nor doubts that it lives', async () => {
    await using database = await sqliteDatabase()
    const parts = partsOf(database)
    await parts.join()
    await parts.join()
    const { db, clock, log } = parts
    const node = await joinNodes({ db, clock, random: systemRandom, log, alone: true, place: NOWHERE })
    expect(await idsIn(db)).toEqual([node.id()])
    clock.advance(10 * MINUTE)
    await node.beat()
    await node.removeDead()
    expect(node.isSurelyAlive()).toBe(true)
    expect(await db.selectFrom('nodes').select(['id', 'beats']).execute()).toEqual([
      { id: node.id(), beats: 0 },
    ])
  })
})

/** Nodes that store files for one account that may have 10 MiB. */
async function storing(database: ContractDatabase) {
  const parts = partsOf(database)
  const { db, clock } = parts
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  const blobs = await openDiskBlobs(folder, systemRandom, { alone: false })
  const hashing = startContentHashing()
  const reported: unknown[] = []
  const report = (error: unknown) => {
    reported.push(error)
  }
  const begun: RequestUpload[] = []
  const { apiKey } = await createAccounts(db, clock, systemRandom).add('alice')
  const caller = await createKeyHolders(db, clock).authenticate(apiKey)

  async function node(between: (db: Database) => Database = (db) => db) {
    const db = between(database.another())
    const nodes = await joinNodes({
      db,
      clock,
      random: systemRandom,
      log: parts.log,
      alone: false,
      place: NOWHERE,
    })
    const rates = await createRateLimits(db, clock)
    const limits = { storageLimit: 10 * MIB, guestStorage: MIB, guestHourlySize: MIB, minFreeSpace: 0 }
    const reservations = new Reservations({
      db,
      blobs,
      databaseSpace: async () => null,
      rates,
      nodes,
      clock,
      random: systemRandom,
      limits,
      report,
    })
    const health = createStoreHealth(blobs, report)
    const random = systemRandom
    const commit = new FileCommit({
      ...{ db, health, thumbnails: noThumbnails, clock, random, limits },
      uploaded() {},
    })
    const uploads = new UploadStoring({
      clock,
      db,
      blobs,
      health,
      hashing,
      reservations,
      commit,
      signing: createSigning('a secret of this test'),
      maxFileSize: 10 * MIB,
    })
    const cleaning = createCleaning(db, blobs, clock, report)
    return {
      nodes,
      reservations,
      cleaning,
      async begin(content: string | Uint8Array) {
        const bytes = Buffer.from(content)
        const upload = await uploads.begin(caller, 'root', {
          least: bytes.length,
          // Of a length that nobody knows, so that it is stored as it comes.
          declared: null,
        })
        begun.push(upload)
        await upload.write(bytes)
        return upload
      },
    }
  }

  return {
    ...parts,
    blobs,
    caller,
    reported,
    node,
    /** Everything there is: reservations, storage reserved and used, rows, and blobs finished and unfinished. */
    async held() {
      const account = await db
        .selectFrom('accounts')
        .select(['storage_reserved', 'storage_used', 'files_count'])
        .where('id', '=', caller.account)
        .executeTakeFirstOrThrow()
      const reservations = await db.selectFrom('reservations').select('key').execute()
      const files = await db.selectFrom('files').select('name').orderBy('id').execute()
      const stored: string[] = await keysOf(blobs)
      return {
        ...account,
        reservations: reservations.length,
        files: files.map(({ name }) => name),
        blobs: stored.length,
      }
    },
    async [Symbol.asyncDispose]() {
      // As a node does that only seemed to be dead, so that no file stays open.
      for (const upload of begun) await upload.abort()
      hashing.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const NOTHING = { storage_reserved: 0, storage_used: 0, files_count: 0, reservations: 0, files: [], blobs: 0 }

describe.each(both)('uploads of nodes on %s', (_, open) => {
  test('of a dead node are ended by another, and those of the living go on', async () => {
    await using database = await open()
    await using parts = await storing(database)
    const [living, dead] = [await parts.node(), await parts.node()]
    const kept = await living.begin('kept')
    await dead.begin('lost')
    await dead.begin('lost too')
    await living.cleaning.sweepDead()
    expect(await parts.held()).toMatchObject({ reservations: 3, blobs: 3 })

    await living.nodes.removeDead()
    await pass(parts, DEAD_AFTER, [living.nodes])
    await living.cleaning.sweepDead()
    expect(await parts.held()).toMatchObject({ reservations: 1, storage_reserved: 4 })
    await kept.finish('kept.txt', null)
    parts.clock.advance(2 * MINUTE)
    await living.cleaning.removeGarbage()
    expect(await parts.held()).toEqual({
      storage_reserved: 0,
      storage_used: 4,
      files_count: 1,
      reservations: 0,
      files: ['kept.txt'],
      blobs: 1,
    })
  })

  test('of a dead node are ended by the next one when the first stopped in the middle', async () => {
    await using database = await open()
    await using parts = await storing(database)
    const [first, second, dead] = [await parts.node(), await parts.node(), await parts.node()]
    for (const content of ['one', 'two', 'three']) await dead.begin(content)
    await dead.nodes.leave()
    let steps = 0
    await first.cleaning.sweepDead(() => ++steps <= 2)
    const { reservations } = await parts.held()
    expect([1, 2]).toContain(reservations)
    await second.cleaning.sweepDead()
    parts.clock.advance(2 * MINUTE)
    await second.cleaning.removeGarbage()
    expect(await parts.held()).toEqual(NOTHING)
  })

  test('of any number of dead nodes are ended once, whoever does it at the same time', async () => {
    await using database = await open()
    await using parts = await storing(database)
    const nodes = [await parts.node(), await parts.node(), await parts.node()]
    const dead = await parts.node()
    for (let count = 0; count < 10; count++) await dead.begin(`upload ${count}`)
    await dead.nodes.leave()
    await Promise.all(nodes.map((node) => node.cleaning.sweepDead()))
    expect(await parts.held()).toMatchObject({ reservations: 0, storage_reserved: 0 })
  })

  test('are cleared at once by a node that starts alone', async () => {
    await using database = await open()
    await using parts = await storing(database)
    const killed = await parts.node()
    for (let count = 0; count < 60; count++) await killed.begin(`upload ${count}`)
    await killed.nodes.leave()
    const started = await parts.node()
    await started.cleaning.afterStart()
    expect(await parts.held()).toEqual(NOTHING)
    expect(await parts.db.selectFrom('blob_garbage').select('key').execute()).toEqual([])
  })

  test.each([
    ['that has not noticed yet', false],
    ['that has joined again', true],
  ])('of a node %s fail when it was taken for dead, and leave nothing', async (_, hasNoticed) => {
    await using database = await open()
    await using parts = await storing(database)
    const [watcher, still] = [await parts.node(), await parts.node()]
    const upload = await still.begin('hello')
    const reservation = await still.reservations.reserve(parts.caller, 10, 10)
    await watcher.nodes.removeDead()
    await pass(parts, DEAD_AFTER, [watcher.nodes])
    await watcher.cleaning.sweepDead()
    if (hasNoticed) await still.nodes.beat()

    await expect(reservation.cover(MIB)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    await reservation.release()
    await expect(upload.finish('hello.txt', null)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    await upload.abort()
    parts.clock.advance(2 * MINUTE)
    await watcher.cleaning.removeGarbage()
    expect(await parts.held()).toEqual(NOTHING)
    expect(parts.reported).toEqual([])

    await still.nodes.beat()
    await (await still.begin('hello again')).finish('again.txt', null)
    expect(await parts.held()).toMatchObject({ files: ['again.txt'], reservations: 0, storage_reserved: 0 })
  })

  test('that end while their node is taken for dead are whole or not there at all', async () => {
    await using database = await open()
    await using parts = await storing(database)
    const sweeper = await parts.node()
    const { fraction } = chance(7)
    let stored = 0
    for (let round = 0; round < 30; round++) {
      const node = await parts.node()
      const upload = await node.begin(`content ${round}`)
      await node.nodes.leave()
      const [finished] = await Promise.allSettled([
        Bun.sleep(fraction() * 4).then(() => upload.finish(`${round}.txt`, null)),
        Bun.sleep(fraction() * 8).then(() => sweeper.cleaning.sweepDead()),
      ])
      if (finished.status === 'fulfilled') stored++
      else {
        expect(finished.reason).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
        await upload.abort()
      }
    }
    parts.clock.advance(2 * MINUTE)
    await sweeper.cleaning.removeGarbage()
    const held = await parts.held()
    expect(held).toMatchObject({ reservations: 0, storage_reserved: 0, files_count: stored, blobs: stored })
    const blobs = await parts.db.selectFrom('blobs').select(['key', 'size']).execute()
    for (const { key, size } of blobs) expect(await parts.blobs.size(key)).toBe(size)
  })

  test('that had storage reserved without ever hearing of it release it', async () => {
    await using database = await open()
    await using parts = await storing(database)
    const lossy = lossyDatabase()
    const node = await parts.node(lossy.between)
    lossy.loseNextAnswer('well')
    await expect(node.begin('hello')).rejects.toMatchObject({ code: 'SQLITE_IOERR_FSYNC' })
    expect(await parts.held()).toMatchObject({ reservations: 1, storage_reserved: 5 })
    await node.reservations.endFailed()
    expect(await parts.held()).toMatchObject({ reservations: 0, storage_reserved: 0 })
  })
})
