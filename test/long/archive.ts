/** Zips larger than any test of every day makes: beyond 4 GB and 65,535 files. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSqlite } from '../../src/database/sqlite.ts'
import type { Slug } from '../../src/domain/ids.ts'
import { chance } from '../support/chance.ts'
import { type Caller, caller } from '../support/clients/caller.ts'
import { run, zipMembers, zipPrograms } from '../support/clients/zip-programs.ts'
import { addCopies } from '../support/contents/file-copies.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import { addAccount, startChild, temporaryFolder } from '../support/processes/child.ts'
import { megabytes, processFigures, resetPeak } from './process-figures.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
const MEMORY_LIMIT = 64 * MIB
const SMALL_FILES = 70_000
const WARMING_FILES = 10_000

interface Scene {
  readonly pid: number
  readonly url: string
  readonly dataDir: string
  readonly key: string
  readonly account: Caller
  readonly folder: string
  readonly scratch: string
}

async function withScene(work: (scene: Scene) => Promise<string>): Promise<string> {
  using scratch = temporaryFolder()
  const dataDir = join(scratch.path, 'data')
  const { apiKey: key } = await addAccount(dataDir, 'archive')
  await using server = await startChild(dataDir, { STORAGE_LIMIT: '100GB', RATE_LIMIT: '1000000' })
  const account = caller(server.url, key)
  const folder = await account.createFolder('archive')
  const { pid, url } = server
  const figures = await work({ pid, url, dataDir, key, account, folder, scratch: scratch.path })
  await server.stop()
  return figures
}

/**
 * A zip of a file of so many GB between others and of 70,000 small files: every program reads all of it and finds the
 * check sums right, and 200 random ranges are the same bytes.
 */
export async function archivePrograms(gigabytes: number): Promise<string> {
  return withScene(async (scene) => {
    await scene.account.upload(chance(1).bytes(1000), '0 before.bin', scene.folder)
    await uploadLarge(scene, gigabytes * GIB)
    const small = await scene.account.upload(chance(2).bytes(1000), '2 behind.bin', scene.folder)
    await addPhotos(scene, small.slug, SMALL_FILES)
    const zip = join(scene.scratch, 'it.zip')
    const address = `${scene.url}/f/${scene.folder}?download=zip`
    const { size, seconds } = await download(address, zip)
    const members = await zipMembers(zip)
    if (members.length !== SMALL_FILES + 3) throw new Error(`there are ${members.length} files in the zip`)
    await compareRanges(address, zip, size)
    for (const program of zipPrograms) await run(program.test(zip), true)
    rmSync(zip)
    const names = zipPrograms.map(({ name }) => name).join(', ')
    return `${megabytes(size)} at ${megabytes(size / seconds)}/s; whole for ${names}; 200 ranges the same`
  })
}

/**
 * How far the zip of so many files of 4 KB raises the peak memory of a server that is warm: it has listed them once,
 * which fills the database's cache as their uploads would have, and has sent smaller zips.
 */
export async function archiveMemory(files: number): Promise<string> {
  return withScene(async (scene) => {
    const warming = await scene.account.createFolder('warming')
    const first = await scene.account.upload(chance(2).bytes(4000), 'original.bin', warming)
    await addPhotos(scene, first.slug, WARMING_FILES - 1)
    for (let round = 0; round < 2; round++) await read(`${scene.url}/f/${warming}?download=zip`)
    const { slug } = await scene.account.upload(chance(3).bytes(4000), 'original.bin', scene.folder)
    await addPhotos(scene, slug, files - 1)
    await list(scene)
    await Bun.sleep(3000)
    resetPeak(scene.pid)
    const warm = processFigures(scene.pid).peak
    const { size, seconds, firstByte } = await read(`${scene.url}/f/${scene.folder}?download=zip`)
    const { peak } = processFigures(scene.pid)
    const text = `warm ${megabytes(warm)}, peak ${megabytes(peak)}, raised by ${megabytes(peak - warm)}`
    if (peak - warm > MEMORY_LIMIT) throw new Error(`${text}, allowed are ${megabytes(MEMORY_LIMIT)}`)
    return `${text}; first byte after ${firstByte.toFixed(2)} s, ${megabytes(size)} in ${seconds.toFixed(1)} s`
  })
}

const PLANS = 30
const PLANS_LIMIT = 128 * MIB

/**
 * How far 30 zips of so many files, asked for at once, raise the peak memory of a server that is warm: HEAD first, then GET
 * by clients that never read what they asked for. Those for which there is no room are told to come back.
 */
export async function archivePlans(files: number): Promise<string> {
  return withScene(async (scene) => {
    const { slug } = await scene.account.upload(chance(3).bytes(4000), 'original.bin', scene.folder)
    await addPhotos(scene, slug, files - 1)
    await list(scene)
    const address = `${scene.url}/f/${scene.folder}?download=zip`
    for (let round = 0; round < 2; round++) await read(address)
    await Bun.sleep(3000)
    resetPeak(scene.pid)
    const warm = processFigures(scene.pid).peak
    const heads = await statuses(() => fetch(address, { method: 'HEAD' }))
    const afterHeads = processFigures(scene.pid).peak
    const leaving = new AbortController()
    const gets = await statuses(() => fetch(address, { signal: leaving.signal }))
    const { peak } = processFigures(scene.pid)
    leaving.abort()
    const text = `warm ${megabytes(warm)}, raised by ${megabytes(afterHeads - warm)} and then ${megabytes(peak - warm)}; HEAD ${heads}; GET unread ${gets}`
    if (peak - warm > PLANS_LIMIT) throw new Error(`${text}, allowed are ${megabytes(PLANS_LIMIT)}`)
    if ((await fetch(address, { method: 'HEAD' })).status !== 200) throw new Error(`${text}, and then none`)
    return text
  })
}

/** How often the answers had which status; any but these two is a failure. */
async function statuses(ask: () => Promise<Response>): Promise<string> {
  const answers = await Promise.all(Array.from({ length: PLANS }, ask))
  const told = answers.filter(({ status, headers }) => status === 503 && headers.has('retry-after')).length
  const made = answers.filter(({ status }) => status === 200).length
  if (made === 0 || made + told < PLANS)
    throw new Error(`${made} made, ${told} told to come back, of ${PLANS}`)
  return `${made} made, ${told} told to come back`
}

/** Every file of the folder, in one answer. */
async function list({ url, key, folder }: Scene): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}/api/v1/folder/${folder}/files`, { headers })
  if (!answer.ok) throw new Error(`the list was answered ${answer.status}: ${await answer.text()}`)
  for await (const _ of answer.body ?? []);
}

async function uploadLarge({ url, key, folder }: Scene, size: number): Promise<void> {
  const raw = await openUpload(url, { key, size, name: '1 large.bin', folder })
  const piece = chance(5).bytes(MIB)
  const words = new DataView(piece.buffer)
  for (let sent = 0; sent < size; sent += piece.length) {
    words.setUint32(0, sent / MIB)
    await raw.send(piece)
  }
  const { status, body } = await raw.finish()
  if (status !== 200) throw new Error(`the upload was answered ${status}: ${body}`)
}

/** Files with the content of the given one and names of their own. */
async function addPhotos({ dataDir }: Scene, original: string, count: number): Promise<void> {
  const database = openSqlite(join(dataDir, 'holdfast.sqlite'))
  try {
    const { id } = await database
      .selectFrom('files')
      .select('id')
      .where('slug', '=', original as Slug)
      .executeTakeFirstOrThrow()
    await addCopies(database, id, count, (number) => `a photo of some day in the summer ${number}.jpeg`)
  } finally {
    await database.destroy()
  }
}

interface Download {
  readonly size: number
  /** Until the first byte of the body, and until the last. */
  readonly firstByte: number
  readonly seconds: number
}

async function read(address: string, take: (piece: Uint8Array) => unknown = () => {}): Promise<Download> {
  const begin = performance.now()
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`the zip was answered ${answer.status}: ${await answer.text()}`)
  let size = 0
  let firstByte = 0
  for await (const piece of answer.body ?? []) {
    if (size === 0) firstByte = (performance.now() - begin) / 1000
    size += piece.length
    await take(piece)
  }
  return { size, firstByte, seconds: (performance.now() - begin) / 1000 }
}

async function download(address: string, path: string): Promise<Download> {
  const writer = Bun.file(path).writer()
  const result = await read(address, async (piece) => {
    writer.write(piece)
    await writer.flush()
  })
  await writer.end()
  return result
}

async function compareRanges(address: string, zip: string, size: number): Promise<void> {
  const random = chance(9)
  for (let count = 0; count < 200; count++) {
    const start = random.whole(0, size - 1)
    const last = Math.min(size - 1, start + random.whole(0, 200_000))
    const answer = await fetch(address, { headers: { range: `bytes=${start}-${last}` } })
    const wanted = Buffer.from(
      await Bun.file(zip)
        .slice(start, last + 1)
        .arrayBuffer(),
    )
    if (!wanted.equals(await answer.bytes())) throw new Error(`bytes ${start} to ${last} are others`)
  }
}
