// Also on the cluster in npm test.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { z } from 'zod'
import type { FileId } from '../../../../src/domain/ids.ts'
import { runsOf } from '../../../support/cases.ts'
import {
  api,
  bearer,
  deleteFile,
  detail,
  type Headers,
  makeFolder,
  randomBytes,
  type Uploaded,
  upload,
  visit,
} from '../../../support/clients/public.ts'
import { unpacked, zipMembers, zipPrograms } from '../../../support/clients/zip-programs.ts'
import { addCopies } from '../../../support/contents/file-copies.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { testWith } from '../../../support/processes/tools.ts'
import { ownedHost } from '../../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const stranger = (await host.addAccount('stranger')).apiKey
const scratch = temporaryFolder()
afterAll(() => scratch[Symbol.dispose]())

interface Tree {
  readonly folder: string
  /** What unpacking gives: contents in hexadecimal, folders with a slash behind them. */
  readonly unpacked: Record<string, string>
  readonly files: readonly Uploaded[]
}

/** A name twice and once more in capitals, an empty file and folder, and a file too large to be read at once. */
async function makeTree(): Promise<Tree> {
  const tree: Record<string, string> = {}
  const files: Uploaded[] = []
  const folder = await makeFolder(host, key, { name: `Holiday – ${crypto.randomUUID()}` })
  const put = async (into: string, name: string, path: string, size: number) => {
    const bytes = randomBytes(size)
    files.push(await upload(host, { key, folder: into, name, bytes }))
    tree[path] = Buffer.from(bytes).toString('hex')
  }
  const sub = await makeFolder(host, key, { name: 'sub', parent: folder })
  const capital = await makeFolder(host, key, { name: 'SUB', parent: folder })
  const deep = await makeFolder(host, key, { name: '日本語', parent: sub })
  await makeFolder(host, key, { name: 'empty', parent: folder })
  Object.assign(tree, { 'sub/': '', 'SUB (2)/': '', 'sub/日本語/': '', 'empty/': '' })
  await put(folder, 'a.txt', 'a.txt', 100)
  await put(folder, 'a.txt', 'a (2).txt', 200)
  await put(folder, 'A.TXT', 'A (3).TXT', 300)
  await put(folder, 'nothing.bin', 'nothing.bin', 0)
  await put(folder, 'large: part 1.bin', 'large_ part 1.bin', 2_500_000)
  await put(sub, 'a.txt', 'sub/a.txt', 1)
  await put(capital, 'b.txt', 'SUB (2)/b.txt', 70_000)
  await put(deep, 'Übersicht.pdf', 'sub/日本語/Übersicht.pdf', 5)
  return { folder, unpacked: tree, files }
}

let tree: Tree
let address: string
let whole: Uint8Array

async function get(path: string, headers: Headers = {}, method = 'GET'): Promise<Response> {
  return visit(host, path, { headers, method })
}

beforeAll(async () => {
  tree = await makeTree()
  address = `/f/${tree.folder}?download=zip`
  whole = await (await get(address)).bytes()
  await Bun.write(join(scratch.path, 'whole.zip'), whole)
})

describe('a folder as a zip', () => {
  for (const program of zipPrograms) {
    testWith([program.tool], `is unpacked whole by ${program.name}`, async () => {
      const found = await unpacked(program, join(scratch.path, 'whole.zip'), join(scratch.path, program.name))
      expect(Object.keys(found).sort()).toEqual(Object.keys(tree.unpacked).sort())
      expect(found).toEqual(tree.unpacked)
    })
  }

  test('tells its length, its name and what it is, to HEAD as well', async () => {
    const answers = [await get(address), await get(address, {}, 'HEAD')]
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('application/zip')
      expect(answer.headers.get('accept-ranges')).toBe('bytes')
      expect(answer.headers.get('cache-control')).toContain('private')
      expect(answer.headers.get('etag')).toMatch(/^"[\x21\x23-\x7e]+"$/)
      expect(answer.headers.get('last-modified')).toBeNull()
      expect(answer.headers.get('content-disposition')).toMatch(
        /^attachment; filename="Holiday .*\.zip"; filename\*=UTF-8''Holiday%20%E2%80%93%20.*\.zip$/,
      )
    }
    const lengths = answers.map(({ headers }) => headers.get('content-length'))
    expect(lengths).toEqual([String(whole.length), String(whole.length)])
    expect(await answers[0]?.bytes()).toEqual(whole)
    expect(await answers[1]?.bytes()).toEqual(new Uint8Array())
  })

  testWith(['python3'], 'gives the time of each upload', async () => {
    const shape = z.object({ data: z.array(z.object({ name: z.string(), created_at: z.string() })) })
    const listed = await api(host, key, 'GET', `/api/v1/folder/${tree.folder}/files`)
    const uploadedAt = new Map(shape.parse(listed.body).data.map((file) => [file.name, file.created_at]))
    const members = await zipMembers(join(scratch.path, 'whole.zip'))
    const at = members.find(({ name }) => name === 'nothing.bin')?.modified
    expect(at).toBe((uploadedAt.get('nothing.bin') ?? '').replace(/\.\d+Z$/, 'Z'))
  })

  testWith(['python3'], 'is the same for its owner by key, and of everything at the top level', async () => {
    const own = await get(`/api/v1/folder/${tree.folder}/download`, bearer(key))
    expect(own.status).toBe(200)
    expect(await own.bytes()).toEqual(whole)
    const all = await get('/api/v1/folder/root/download', bearer(key))
    expect(all.headers.get('content-disposition')).toBe('attachment; filename="files.zip"')
    const zip = join(scratch.path, 'all.zip')
    await Bun.write(zip, await all.bytes())
    const names = (await zipMembers(zip)).map(({ name }) => name)
    expect(names.filter((name) => /^Holiday – [^/]*\/sub\/a\.txt$/.test(name))).toHaveLength(1)
  })

  test('of a folder with nothing in it is an empty zip', async () => {
    const empty = await makeFolder(host, key)
    const answer = await get(`/f/${empty}?download=zip`)
    expect(await answer.bytes()).toHaveLength(22)
  })

  test('is none where there is no such folder', async () => {
    expect((await get('/f/z000000000000000?download=zip')).status).toBe(404)
    expect((await get('/api/v1/folder/z000000000000000/download', bearer(key))).status).toBe(404)
    expect((await get(`/api/v1/folder/${tree.folder}/download`, bearer(stranger))).status).toBe(404)
  })
})

describe('a range of a zip', () => {
  test('is the same bytes as in the whole, wherever it lies', async () => {
    const position = fc.oneof(
      fc.nat(whole.length - 1),
      fc.nat(Math.min(5000, whole.length - 1)),
      fc.nat(3000).map((back) => whole.length - 1 - back),
    )
    await fc.assert(
      fc.asyncProperty(position, position, async (one, other) => {
        const [start, last] = one <= other ? [one, other] : [other, one]
        const answer = await get(address, { range: `bytes=${start}-${last}` })
        expect(answer.status).toBe(206)
        expect(answer.headers.get('content-range')).toBe(`bytes ${start}-${last}/${whole.length}`)
        expect(Buffer.from(whole.subarray(start, last + 1)).equals(await answer.bytes())).toBe(true)
      }),
      { numRuns: runsOf(60) },
    )
  })

  test('goes on where a download broke off', async () => {
    const first = await get(address, { range: 'bytes=0-99999' })
    const etag = first.headers.get('etag') ?? ''
    const rest = await get(address, { range: 'bytes=100000-', 'if-range': etag })
    expect(rest.status).toBe(206)
    expect(Buffer.concat([await first.bytes(), await rest.bytes()]).equals(whole)).toBe(true)
  })

  test('beyond the end is refused with the length', async () => {
    const answer = await get(address, { range: `bytes=${whole.length}-` })
    expect(answer.status).toBe(416)
    expect(answer.headers.get('content-range')).toBe(`bytes */${whole.length}`)
  })

  test('is not given for a date, because a folder changes without one', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toUTCString()
    const answer = await get(address, { range: 'bytes=0-9', 'if-range': tomorrow })
    expect(answer.status).toBe(200)
    await answer.body?.cancel()
  })
})

describe('the entity tag of a zip', () => {
  test('answers a copy that is still right with 304', async () => {
    const etag = (await get(address, {}, 'HEAD')).headers.get('etag') ?? ''
    const same = await get(address, { 'if-none-match': etag })
    expect(same.status).toBe(304)
    expect(same.headers.get('etag')).toBe(etag)
    expect((await get(address, { 'if-match': '"another"' })).status).toBe(412)
  })

  test('changes with every change of what is in it, and a range of the old one gets the new one whole', async () => {
    const folder = await makeFolder(host, key)
    const sub = await makeFolder(host, key, { parent: folder, name: 'sub' })
    const kept = await upload(host, { key, folder, name: 'kept.txt' })
    const gone = await upload(host, { key, folder: sub, name: 'gone.txt' })
    const path = `/f/${folder}?download=zip`
    const tags: string[] = []
    const look = async () => {
      const before = tags.at(-1)
      const answer = await get(path, before === undefined ? {} : { range: 'bytes=10-20', 'if-range': before })
      expect(answer.status).toBe(200)
      expect((await answer.bytes()).length).toBeGreaterThan(22)
      tags.push(answer.headers.get('etag') ?? '')
    }
    await look()
    await api(host, key, 'PATCH', `/api/v1/file/${kept.slug}`, { name: 'named.txt' })
    await look()
    await upload(host, { key, folder: sub, name: 'new.txt' })
    await look()
    await api(host, key, 'PATCH', `/api/v1/folder/${sub}`, { name: 'named' })
    await look()
    await api(host, key, 'POST', '/api/v1/file/move', { file: kept.slug, folder: sub })
    await look()
    await deleteFile(host, key, gone.slug)
    await look()
    expect(new Set(tags).size).toBe(6)
  })
})

describe('a download of a zip', () => {
  test('is one of each file whose first byte was sent, over a break too', async () => {
    const folder = await makeFolder(host, key)
    const files = [
      await upload(host, { key, folder, name: '1.bin', bytes: randomBytes(1000) }),
      await upload(host, { key, folder, name: '2.bin', bytes: randomBytes(0) }),
      await upload(host, { key, folder, name: '3.bin', bytes: randomBytes(1000) }),
    ]
    const downloads = async () => {
      await host.settle()
      return Promise.all(files.map(async (file) => (await detail(host, key, file)).downloads))
    }
    const path = `/f/${folder}?download=zip`
    await (await get(path, {}, 'HEAD')).bytes()
    expect(await downloads()).toEqual([0, 0, 0])
    await (await get(path, { range: 'bytes=0-499' })).bytes()
    expect(await downloads()).toEqual([1, 0, 0])
    await (await get(path, { range: 'bytes=500-' })).bytes()
    expect(await downloads()).toEqual([1, 1, 1])
    await (await get(path, bearer(key))).bytes()
    expect(await downloads()).toEqual([1, 1, 1])
    await Promise.all([1, 2].map(async () => (await get(path)).bytes()))
    expect(await downloads()).toEqual([3, 3, 3])
  })
})

testWith(
  ['python3'],
  'a folder of more files than one page of rows is whole, and each of them is counted',
  async () => {
    const folder = await makeFolder(host, key)
    const sub = await makeFolder(host, key, { parent: folder, name: 'sub' })
    const name = (number: number) => `${number % 7}-${number % 900}.txt`
    const original = await upload(host, { key, folder: sub, name: 'original.txt' })
    await addCopies(host.database, original.file_id, 1200, name)
    const zip = join(scratch.path, 'many.zip')
    await Bun.write(zip, await (await get(`/f/${folder}?download=zip`)).bytes())
    const names = (await zipMembers(zip)).map((member) => member.name)
    const wanted = Array.from({ length: 1200 }, (_, number) => name(number))
    const numbered = wanted.map((each, at) =>
      wanted.indexOf(each) === at ? each : each.replace('.txt', ' (2).txt'),
    )
    const expected = ['original.txt', ...numbered].map((each) => `sub/${each}`)
    expect(names.sort()).toEqual(['sub/', ...expected].sort())
    await host.runJobs()
    const { downloaded } = await host.database
      .selectFrom('files')
      .select((row) => row.fn.countAll<number>().as('downloaded'))
      .where('downloads', '=', 1)
      .where('blob_id', '=', (all) =>
        all
          .selectFrom('files as one')
          .select('one.blob_id')
          .where('one.id', '=', original.file_id as FileId),
      )
      .executeTakeFirstOrThrow()
    expect(downloaded).toBe(1201)
  },
)
