/** The queue of thumbnails on both databases: who makes which, and what becomes of those that cannot be made. */
// Only in test:all: many processes; thumbnail-pictures.test.ts has some.

import { describe, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BlobStore } from '../../../src/blobs/blob-store.ts'
import { openDiskBlobs } from '../../../src/blobs/disk.ts'
import { releaseBlob } from '../../../src/core/blobs.rows.ts'
import { joinNodes } from '../../../src/core/nodes/nodes.ts'
import { createStoreHealth } from '../../../src/core/store/store-health.ts'
import { noteThumbnails, turnOf } from '../../../src/core/thumbnails.rows.ts'
import type { Database } from '../../../src/database/database.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { MINUTE } from '../../../src/domain/clock.ts'
import { type BlobId, GUESTS, type Sha256 } from '../../../src/domain/ids.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { createLocalMaker } from '../../../src/thumbnails/local-maker.ts'
import { type ThumbnailMaker, ThumbnailMakerUnavailable } from '../../../src/thumbnails/maker.ts'
import { createSpawner } from '../../../src/thumbnails/spawning.ts'
import { createThumbnailMaking, MOST_TRIES } from '../../../src/thumbnails/thumbnail-making.job.ts'
import { processFigures } from '../../long/process-figures.ts'
import type { Bytes } from '../../support/clients/public.ts'
import { adoptBlob } from '../../support/contents/account-with-file.ts'
import { blackPng, picture } from '../../support/contents/pictures.ts'
import { type ContractDatabase, databases } from '../../support/databases/databases.ts'
import { eventually } from '../../support/eventually.ts'
import { type HandClock, handClock } from '../../support/hand-clock.ts'
import { type KeptLog, keptLog } from '../../support/kept-log.ts'
import { NOWHERE } from '../../support/node-place.ts'
import { imageWorkers } from '../../support/processes/image-workers.ts'
import { keysOf } from '../../support/storage/blob-chunks.ts'

const MB = 1024 * 1024
const LIMITS = { memory: 512 * MB, work: 20_000, step: 20_000 }

interface House extends AsyncDisposable {
  readonly db: Database
  readonly blobs: BlobStore
  readonly log: KeptLog
  /** Lets time go by for nodes that live. */
  pass(milliseconds: number): Promise<void>
  /** Another node, with a maker of its own. */
  node(maker?: ThumbnailMaker): Promise<Node>
  /** Stores a content that may have a thumbnail, which waits for the turn. */
  store(bytes: Bytes, turn?: number): Promise<BlobId>
  states(): Promise<string[]>
}

type Node = Awaited<ReturnType<typeof nodeOf>>

async function houseOf(database: ContractDatabase): Promise<House> {
  const { db } = database
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  const blobs = await openDiskBlobs(folder, systemRandom, { alone: false })
  const [clock, log] = [handClock(), keptLog()]
  const nodes: Node[] = []
  return {
    db,
    blobs,
    log,

    async pass(milliseconds) {
      clock.advance(milliseconds)
      for (const { nodes: beating } of nodes) await beating.beat()
    },

    async node(maker = createLocalMaker(log, LIMITS)) {
      const node = await nodeOf({ db: database.another(), blobs, clock, log, maker })
      nodes.push(node)
      return node
    },

    async store(bytes, turn = 1) {
      const key = makeBlobKey(systemRandom)
      const writer = await blobs.create(key)
      await writer.write(bytes)
      await writer.complete()
      const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex') as Sha256
      const blob = { key, sha256, crc32: 0, size: bytes.length, created_at: clock.now() }
      return inTransaction(db, async (trx) => {
        const id = await adoptBlob(trx, blob, clock.now())
        await noteThumbnails(trx, [{ blob_id: id, state: 'wanted', turn, due_at: clock.now() }])
        return id
      })
    },

    states: async () =>
      (await db.selectFrom('thumbnails').select('state').orderBy('blob_id').execute()).map(
        ({ state }) => state,
      ),

    async [Symbol.asyncDispose]() {
      for (const { making } of nodes) await making.stop()
      await database[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function nodeOf(parts: {
  db: Database
  blobs: BlobStore
  clock: HandClock
  log: KeptLog
  maker: ThumbnailMaker
}) {
  const nodes = await joinNodes({ ...parts, random: systemRandom, alone: false, place: NOWHERE })
  const health = createStoreHealth(parts.blobs, () => {})
  return { nodes, making: createThumbnailMaking({ ...parts, nodes, health, random: systemRandom }) }
}

/** Makes nothing, and says what it was asked for; never ends by itself. */
function standingStill(): ThumbnailMaker & { asked: number } {
  return {
    asked: 0,
    make(_kind, _source, signal) {
      this.asked += 1
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    },
    canMakePosters: async () => false,
    close() {},
  }
}

describe.each([...databases('thumbnails')])('on %s', (_name, open) => {
  test('each is made once, however many nodes are at it', async () => {
    await using house = await houseOf(await open())
    for (let width = 10; width < 22; width++) await house.store(await picture('png', width, 10))
    const nodes = [await house.node(), await house.node(), await house.node()]
    await Promise.all(nodes.map(({ making }) => making.run()))
    expect(await house.states()).toEqual(new Array(12).fill('made'))
    const rows = await house.db.selectFrom('thumbnails').select(['key', 'tries', 'node']).execute()
    expect(new Set(rows.map(({ key }) => key)).size).toBe(12)
    for (const row of rows) expect(row).toMatchObject({ tries: 1, node: null })
    expect((await keysOf(house.blobs)).length).toBe(24)
    expect(await house.db.selectFrom('blob_garbage').selectAll().execute()).toEqual([])
  })

  test('many pictures from one address hold up neither accounts nor other addresses, which take turns', async () => {
    await using house = await houseOf(await open())
    const uploaders = new Map<number, string>()
    let size = 100
    const store = async (who: string, turn: number) => {
      size += 1
      uploaders.set(size, who)
      await house.store(Buffer.concat([blackHead, Buffer.alloc(size - blackHead.length, size)]), turn)
    }
    const blackHead = (await blackPng(1, 1)).slice(0, 33)
    const [many, other] = [turnOf(GUESTS, 'tag of an address'), turnOf(GUESTS, 'tag of another')]
    for (let at = 0; at < 6; at++) await store('address 1', many)
    for (let at = 0; at < 2; at++) await store('account 1', 1)
    await store('address 2', other)
    await store('account 2', 2)
    const made: (string | undefined)[] = []
    const maker: ThumbnailMaker = {
      ...standingStill(),
      async make(_kind, source) {
        made.push(uploaders.get(source.size))
        return { kind: 'none', reason: 'it is only looked at' }
      },
    }
    await (await house.node(maker)).making.run()
    const addresses = many < other ? ['address 1', 'address 2'] : ['address 2', 'address 1']
    expect(made).toEqual([
      ...['account 1', addresses[0], 'account 2', addresses[1], 'account 1', 'address 1'],
      ...new Array(4).fill('address 1'),
    ])
    const kept = await house.db.selectFrom('thumbnails').select('turn').distinct().execute()
    expect(kept).toEqual([{ turn: 0 }])
  })

  test('what a dead node has begun is made by another, and what a living one has begun is not', async () => {
    await using house = await houseOf(await open())
    await house.store(await picture('png', 30, 30))
    const maker = standingStill()
    const [dying, other] = [await house.node(maker), await house.node()]
    dying.making.run().catch(() => {})
    await eventually('it has begun', () => maker.asked === 1)
    await other.making.run()
    expect(await house.states()).toEqual(['wanted'])
    await house.db.deleteFrom('nodes').where('id', '=', dying.nodes.id()).execute()
    await other.making.run()
    expect(await house.states()).toEqual(['made'])
    // It wakes up, and changes nothing any more.
    await dying.making.stop()
    expect(await house.states()).toEqual(['made'])
  })

  test('a node that stops gives back what it has begun, and that is no failure of the content', async () => {
    await using house = await houseOf(await open())
    await house.store(await picture('png', 31, 30))
    for (let restarts = 0; restarts < MOST_TRIES + 1; restarts++) {
      const maker = standingStill()
      const { making } = await house.node(maker)
      making.run().catch(() => {})
      await eventually('it has begun', () => maker.asked === 1)
      await making.stop()
    }
    await (await house.node()).making.run()
    expect(await house.states()).toEqual(['made'])
  })

  test('a content that ends its process again and again is set aside, seen in the log, and holds up no other', async () => {
    await using house = await houseOf(await open())
    const poison = await blackPng(7000, 7000)
    await house.store(poison)
    const { making } = await house.node(createLocalMaker(house.log, { ...LIMITS, work: 0 }))
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      await making.run()
      expect(await house.states()).toEqual([tries < MOST_TRIES ? 'wanted' : 'failed'])
      // Not before its time.
      await making.run()
      await house.pass(tries * MINUTE)
    }
    const told = house.log.lines.filter(({ fields }) => 'blob' in fields)
    expect(told.map(({ level, fields }) => [level, fields.tries])).toEqual([
      ['warn', 1],
      ['warn', 2],
      ['error', 3],
    ])
    expect(String(told[0]?.fields.err)).toContain('worked for more than 0 seconds')
    await house.store(await picture('png', 32, 30))
    await (await house.node()).making.run()
    expect(await house.states()).toEqual(['failed', 'made'])
  })

  test('where nothing can be made at the moment, no content is to blame', async () => {
    await using house = await houseOf(await open())
    await house.store(await picture('png', 36, 30))
    const broken: ThumbnailMaker = {
      ...standingStill(),
      make: () => Promise.reject(new ThumbnailMakerUnavailable('it does not start')),
    }
    const { making } = await house.node(broken)
    for (let tries = 0; tries <= MOST_TRIES; tries++) {
      await expect(making.run()).rejects.toThrow('it does not start')
      await house.pass(MINUTE)
    }
    await (await house.node()).making.run()
    expect(await house.states()).toEqual(['made'])
  })

  test('a content that goes while its thumbnail is made leaves nothing', async () => {
    await using house = await houseOf(await open())
    const blob = await house.store(await picture('png', 33, 30))
    const real = createLocalMaker(house.log, LIMITS)
    const maker: ThumbnailMaker = {
      ...real,
      async make(...given) {
        const made = await real.make(...given)
        await inTransaction(house.db, (trx) => releaseBlob(trx, blob, 0))
        return made
      },
    }
    await (await house.node(maker)).making.run()
    expect(await house.states()).toEqual([])
    // What was written is there to be removed, with the content.
    const garbage = await house.db.selectFrom('blob_garbage').select('key').orderBy('key').execute()
    const stored: string[] = await keysOf(house.blobs)
    expect(stored.length).toBe(2)
    expect(stored.sort()).toEqual(garbage.map(({ key }) => String(key)))
  })
})

describe('a process that makes thumbnails', () => {
  const [[, open] = []] = databases('thumbnail processes')

  async function sqliteHouse(): Promise<House> {
    if (open === undefined) throw new Error('there is always SQLite')
    return houseOf(await open())
  }

  test('decodes no picture whose head says that it would take more memory than there is for it', async () => {
    await using house = await sqliteHouse()
    const bomb = await picture('png', 6000, 6000, (pixels) =>
      pixels.png({ progressive: true, compressionLevel: 9 }),
    )
    expect(bomb.byteLength).toBeLessThan(MB)
    const memory = 200 * MB
    await house.store(bomb)
    const { making } = await house.node(createLocalMaker(house.log, { ...LIMITS, memory }))
    await making.run()
    expect(await house.states()).toEqual(['none'])
    expect(house.log.lines[0]?.fields.reason).toContain('it would take')
    // The process is the one that had the picture, and never held it.
    const [pid] = await imageWorkers(process.pid)
    expect(processFigures(pid ?? 0).peak).toBeLessThan(memory - 36_000_000)
    await house.store(await picture('png', 34, 30))
    await making.run()
    expect(await house.states()).toEqual(['none', 'made'])
  })

  test('that is killed by somebody else is started again, and the work done', async () => {
    await using house = await sqliteHouse()
    await house.store(await blackPng(7000, 7000))
    const { making } = await house.node()
    // That of the test before may not have ended yet.
    const earlier = new Set(await imageWorkers(process.pid))
    const begun = async () => (await imageWorkers(process.pid)).filter((pid) => !earlier.has(pid))
    // One that is killed before it is there is told of in another way.
    const running = making.run().catch(() => {})
    await eventually('it has begun', async () => (await begun()).length > 0)
    for (const pid of await begun()) process.kill(pid, 'SIGKILL')
    await running
    expect(await house.states()).toEqual(['wanted'])
    await house.pass(MINUTE)
    await making.run()
    expect(await house.states()).toEqual(['made'])
  })

  test('has no setting and no secret of the server’s, low priority, and no network', async () => {
    await using house = await sqliteHouse()
    await house.store(await blackPng(7000, 7000))
    process.env.HOLDFAST_TEST_CANARY = 'a secret'
    try {
      const { making } = await house.node()
      const running = making.run()
      let pid: number | undefined
      // The process first takes its network and its priority away, one after the other, and then begins.
      await eventually('it has low priority', async () => {
        ;[pid] = await imageWorkers(process.pid)
        if (pid === undefined) return false
        const status = (await readFile(`/proc/${pid}/stat`, 'latin1')).split(') ')[1]?.split(' ') ?? []
        return Number(status[16]) === Math.min(19, getPriority() + 10)
      })
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1')
      expect(environment).not.toContain('secret')
      expect(
        environment
          .split('\0')
          .filter(Boolean)
          .map((line) => line.split('=')[0]),
      ).toEqual(['MALLOC_ARENA_MAX'])
      // Where the kernel lets nobody have a network of its own, a picture is made with the one there is.
      const { isOffline } = createSpawner()
      const networks = await readFile(`/proc/${pid}/net/dev`, 'latin1')
      if (isOffline) expect(networks).not.toMatch(/^ *(?!lo:)\w+:/m)
      await running
    } finally {
      delete process.env.HOLDFAST_TEST_CANARY
    }
  })

  test('ends soon after its work, and with the node', async () => {
    await using house = await sqliteHouse()
    await house.store(await picture('png', 35, 30))
    const { making } = await house.node()
    await making.run()
    expect((await imageWorkers(process.pid)).length).toBe(1)
    await making.stop()
    await eventually('it has ended', async () => (await imageWorkers(process.pid)).length === 0)
  })
})
