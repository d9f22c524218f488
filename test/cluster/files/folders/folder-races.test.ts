import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Chance, chance } from '../../../support/chance.ts'
import { type Answer, type Api, multipart, newcomer, refusal } from '../../../support/clients/api.ts'
import { flaws, readTree } from '../../../support/clients/folder-tree.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'

const SEED = Number(process.env.HOLDFAST_TEST_FOLDER_SEED ?? Math.floor(Math.random() * 1_000_000))
const ROUNDS = 20
const SECONDS = 1000

let holdfast: TestHoldfast
beforeAll(async () => {
  console.log(`folder races: HOLDFAST_TEST_FOLDER_SEED=${SEED}`)
  holdfast = await startHoldfast({ maxFolderDepth: 6, rateLimit: 1_000_000 })
})
afterAll(() => holdfast.stop())

const move = (caller: Api, folder: string, parent: string) =>
  caller.post('/api/v1/folder/move', { folder, parent })
const moveAll = (caller: Api, folders: string[], parent: string) =>
  caller.post('/api/v1/folders/move', { folders, parent })
const moveFiles = (caller: Api, files: string[], folder: string) =>
  caller.post('/api/v1/files/move', { files, folder })
const create = (caller: Api, name: string, parent: string) => caller.post('/api/v1/folder', { name, parent })
const deleteFolder = (caller: Api, folder: string) => caller.post('/folder/delete', { identifiers: [folder] })
const deleteFile = (caller: Api, file: string) => caller.post('/file/delete', { identifiers: [file] })

const codes = (answers: readonly Answer[]) =>
  answers.map(({ body }) => (body instanceof Object && 'error' in body ? body.error : null))
const sorted = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort()

async function expectSound(caller: Api): Promise<void> {
  expect(flaws(await readTree(caller))).toEqual([])
}

/** Sends each request after a pause of its own, under three milliseconds, so that they meet at different points. */
function atOnce(random: Chance, ...requests: (() => Promise<Answer>)[]): Promise<Answer[]> {
  return Promise.all(
    requests.map(async (request) => {
      if (random.fraction() < 0.7) await Bun.sleep(random.fraction() * 3)
      return request()
    }),
  )
}

/** An upload of 100,000 bytes whose second half is held back until `finish` is called. */
function halfAnUpload(caller: Api, folder: string): { answer: Promise<Answer>; finish: () => void } {
  const disposition = 'name="file"; filename="file.bin"'
  const { type, body } = multipart([{ disposition, content: new Uint8Array(100_000) }])
  const gate = Promise.withResolvers<void>()
  const halves = [body.slice(0, body.length / 2), body.slice(body.length / 2)]
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (halves.length === 1) await gate.promise
      const half = halves.shift()
      if (half === undefined) controller.close()
      else controller.enqueue(half)
    },
  })
  const headers = { 'content-type': type, 'x-folder-id': folder }
  return {
    answer: caller.send('/api/v1/upload', { method: 'POST', body: stream, headers }),
    finish: gate.resolve,
  }
}

describe('two moves that together would make a cycle', () => {
  test(
    'of two folders into each other: one is done, the other refused',
    async () => {
      const caller = await newcomer(holdfast)
      const random = chance(SEED)
      const a = await caller.folder('a')
      const b = await caller.folder('b')
      for (let round = 0; round < 2 * ROUNDS; round += 1) {
        const answers = await atOnce(
          random,
          () => move(caller, a, b),
          () => move(caller, b, a),
        )
        expect(sorted(answers)).toEqual([200, 400])
        expect(codes(answers)).toContain('INVALID_DESTINATION')
        await expectSound(caller)
        await moveAll(caller, [a, b], 'root')
      }
    },
    60 * SECONDS,
  )

  test(
    'of two folders below each other, in batches: one is done, the other refused',
    async () => {
      const caller = await newcomer(holdfast)
      const random = chance(SEED)
      const [a, b] = [await caller.folder('a'), await caller.folder('b')]
      const [belowA, belowB] = [
        await caller.folder('x', { parent: a }),
        await caller.folder('y', { parent: b }),
      ]
      for (let round = 0; round < ROUNDS; round += 1) {
        const answers = await atOnce(
          random,
          () => moveAll(caller, [a], belowB),
          () => moveAll(caller, [b], belowA),
        )
        const failures = answers.filter(({ body }) =>
          Bun.deepMatch({ success: false, data: { results: [{ error: 'INVALID_DESTINATION' }] } }, body),
        )
        expect(sorted(answers)).toEqual([200, 200])
        expect(failures).toHaveLength(1)
        await expectSound(caller)
        await moveAll(caller, [a, b], 'root')
      }
    },
    60 * SECONDS,
  )

  test(
    'of three in a ring: two are done, the third is refused',
    async () => {
      const caller = await newcomer(holdfast)
      const random = chance(SEED)
      const [a, b, c] = [await caller.folder('a'), await caller.folder('b'), await caller.folder('c')]
      for (let round = 0; round < ROUNDS; round += 1) {
        const answers = await atOnce(
          random,
          () => move(caller, a, b),
          () => move(caller, b, c),
          () => move(caller, c, a),
        )
        expect(sorted(answers)).toEqual([200, 200, 400])
        await expectSound(caller)
        await moveAll(caller, [a, b, c], 'root')
      }
    },
    60 * SECONDS,
  )
})

describe('one name wanted twice at once', () => {
  test(
    'by several creations: exactly one gets it',
    async () => {
      const caller = await newcomer(holdfast)
      const random = chance(SEED)
      const parent = await caller.folder('parent')
      for (let round = 0; round < ROUNDS; round += 1) {
        const name = `name ${round}`
        const two = await atOnce(
          random,
          ...Array.from({ length: 2 }, () => () => create(caller, name, 'root')),
        )
        expect(sorted(two)).toEqual([201, 409])
        const five = await atOnce(
          random,
          ...Array.from({ length: 5 }, () => () => create(caller, name, parent)),
        )
        expect(sorted(five)).toEqual([201, 409, 409, 409, 409])
        expect(codes(five)).toContain('DUPLICATE_NAME')
      }
      await expectSound(caller)
    },
    60 * SECONDS,
  )

  test(
    'by a creation, a move and a renaming: exactly one gets it',
    async () => {
      const caller = await newcomer(holdfast)
      const random = chance(SEED)
      const [target, elsewhere] = [await caller.folder('target'), await caller.folder('elsewhere')]
      for (let round = 0; round < ROUNDS; round += 1) {
        const name = `name ${round}`
        const moved = await caller.folder(name, { parent: elsewhere })
        const renamed = await caller.folder(`old ${name}`, { parent: target })
        const answers = await atOnce(
          random,
          () => create(caller, name, target),
          () => move(caller, moved, target),
          () => caller.patch(`/api/v1/folder/${renamed}`, { name }),
        )
        expect(answers.filter(({ status }) => status === 409)).toHaveLength(2)
        expect(answers.filter(({ status }) => status === 200 || status === 201)).toHaveLength(1)
        await expectSound(caller)
      }
    },
    60 * SECONDS,
  )
})

describe('a folder deleted', () => {
  test(
    'while files land in it takes with it every file that was acknowledged, and refuses the rest',
    async () => {
      const caller = await newcomer(holdfast)
      const random = chance(SEED)
      for (let round = 0; round < ROUNDS; round += 1) {
        const folder = await caller.folder(`folder ${round}`)
        const below = await caller.folder('below', { parent: folder })
        const before = await caller.put('there before', { folder: below })
        const upload = (into: string) => () =>
          caller.upload(random.bytes(random.whole(0, 200_000)), {
            folder: into,
            chunked: random.fraction() < 0.5,
          })
        const [deletion, ...uploads] = await atOnce(
          random,
          () => deleteFolder(caller, folder),
          ...[folder, below, folder, below].map(upload),
        )
        expect(deletion).toMatchObject({ status: 200, body: { success: true, successful_deletes: 1 } })
        for (const answer of uploads) {
          if (answer.status === 200) {
            const slug = String(new Map(Object.entries(Object(answer.body))).get('slug'))
            expect(await caller.get(`/api/v1/file/${slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
          } else expect(answer).toMatchObject(refusal('FOLDER_NOT_FOUND'))
        }
        expect(await caller.get(`/api/v1/file/${before.slug}`)).toMatchObject(refusal('FILE_NOT_FOUND'))
        const tree = await readTree(caller)
        expect(flaws(tree)).toEqual([])
        expect(tree.files.size + tree.folders.size).toBe(0)
      }
      await holdfast.runJobs()
      await expectSound(caller)
    },
    120 * SECONDS,
  )

  test(
    'between the first and the last byte of an upload into it leaves no place and no trace for the file',
    async () => {
      const caller = await newcomer(holdfast)
      const folder = await caller.folder('folder')
      const { answer, finish } = halfAnUpload(caller, await caller.folder('below', { parent: folder }))
      await Bun.sleep(100)
      await deleteFolder(caller, folder)
      finish()
      expect(await answer).toMatchObject(refusal('FOLDER_NOT_FOUND'))
      const tree = await readTree(caller)
      expect(flaws(tree)).toEqual([])
      expect(tree.files.size + tree.folders.size).toBe(0)
    },
    60 * SECONDS,
  )

  test(
    'while files and folders are moved in and out leaves nothing in a place that is gone',
    async () => {
      const caller = await newcomer(holdfast)
      const random = chance(SEED)
      for (let round = 0; round < ROUNDS; round += 1) {
        const doomed = await caller.folder(`doomed ${round}`)
        const [inside, outside] = [
          await caller.folder('in', { parent: doomed }),
          await caller.folder(`out ${round}`),
        ]
        const [leaving, coming] = [
          await caller.put('leaving', { folder: inside }),
          await caller.put('coming'),
        ]
        const answers = await atOnce(
          random,
          () => deleteFolder(caller, doomed),
          () => moveFiles(caller, [leaving.slug], 'root'),
          () => moveFiles(caller, [coming.slug], inside),
          () => move(caller, outside, inside),
          () => move(caller, inside, 'root'),
          () => create(caller, 'new', inside),
        )
        expect(answers.filter(({ status }) => ![200, 201, 400, 404, 409].includes(status))).toEqual([])
        const tree = await readTree(caller)
        expect(flaws(tree)).toEqual([])
        expect(tree.folders.has(doomed)).toBe(false)
        await caller.post('/folder/delete', { identifiers: [inside] })
      }
      await holdfast.runJobs()
      await expectSound(caller)
    },
    120 * SECONDS,
  )

  test(
    'twice at once is deleted once, and its files are counted once',
    async () => {
      const caller = await newcomer(holdfast)
      const random = chance(SEED)
      for (let round = 0; round < ROUNDS; round += 1) {
        const folder = await caller.folder(`folder ${round}`)
        await caller.put('x', { folder })
        const answers = await atOnce(
          random,
          () => deleteFolder(caller, folder),
          () => deleteFolder(caller, folder),
        )
        const done = { success: true, successful_deletes: 1, failed_deletes: 0, files_deleted: 1 }
        const late = { success: false, successful_deletes: 0, failed_deletes: 1, files_deleted: 0 }
        expect(answers.filter(({ body }) => Bun.deepMatch(done, body))).toHaveLength(1)
        expect(answers.filter(({ body }) => Bun.deepMatch(late, body))).toHaveLength(1)
        await expectSound(caller)
      }
    },
    60 * SECONDS,
  )
})

test(
  'a folder moved between the first and the last byte of an upload takes the file along',
  async () => {
    const caller = await newcomer(holdfast)
    const [folder, target] = [await caller.folder('folder'), await caller.folder('target')]
    const { answer, finish } = halfAnUpload(caller, folder)
    await Bun.sleep(100)
    expect(await move(caller, folder, target)).toMatchObject({ status: 200 })
    finish()
    expect(await answer).toMatchObject({ status: 200 })
    const tree = await readTree(caller)
    expect(flaws(tree)).toEqual([])
    expect([...tree.files.values()]).toEqual([{ size: 100_000, folder }])
  },
  60 * SECONDS,
)

test(
  'a storm of every kind of change, from several sides at once, leaves a sound tree',
  async () => {
    const caller = await newcomer(holdfast)
    const random = chance(SEED)
    const statuses = new Set<number>()
    for (let round = 0; round < 3 * ROUNDS; round += 1) {
      const tree = await readTree(caller)
      const folders = [...tree.folders.keys()]
      const places = ['root', ...folders]
      const files = [...tree.files.keys()]
      const anyOf = (choices: readonly string[]) => (choices.length === 0 ? 'none' : random.pick(choices))
      const changes = [
        () => create(caller, random.pick(['a', 'b', 'c', 'd']), anyOf(places)),
        () => caller.upload(random.bytes(random.whole(0, 3000)), { folder: anyOf(places) }),
        () => move(caller, anyOf(folders), anyOf(places)),
        () => moveAll(caller, [anyOf(folders), anyOf(folders)], anyOf(places)),
        () => moveFiles(caller, [anyOf(files), anyOf(files)], anyOf(places)),
        () => deleteFile(caller, anyOf(files)),
        () => deleteFolder(caller, anyOf(folders)),
      ]
      // Twice as many things come as go, so that there is something to fight over.
      const requests = Array.from({ length: 8 }, (_, at) =>
        random.pick(at < 3 ? changes.slice(0, 2) : changes),
      )
      for (const { status } of await atOnce(random, ...requests)) statuses.add(status)
      await expectSound(caller)
    }
    expect([...statuses].filter((status) => ![200, 201, 400, 404, 409].includes(status))).toEqual([])
    await holdfast.runJobs()
    await expectSound(caller)
  },
  120 * SECONDS,
)
