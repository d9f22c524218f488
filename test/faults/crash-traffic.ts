/** Clients that upload, move and delete side by side until the server is killed under them. */
import { z } from 'zod'
import { type Chance, chance } from '../support/chance.ts'
import { type Caller, sha256, UnexpectedAnswer, uploadResult } from '../support/clients/caller.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import { crashContent } from './crash-content.ts'
import type { CrashModel, ExpectedFile } from './crash-model.ts'
import { finishedHash, sendOn, tusOf } from './crash-resumable.ts'

const WORKERS = 6
/** A worker with more files than this deletes more than it uploads. */
const ENOUGH_FILES = 15
const ENOUGH_FOLDERS = 4

/** How many calls were acknowledged, by kind, and how many had no answer when the server died. */
export type Tally = Record<
  'uploads' | 'moves' | 'deletes' | 'folders' | 'folderDeletes' | 'unanswered',
  number
>

export function emptyTally(): Tally {
  return { uploads: 0, moves: 0, deletes: 0, folders: 0, folderDeletes: 0, unanswered: 0 }
}

export interface Traffic {
  /** Says that the server is about to end: from now on a lost connection is no surprise. */
  expectDeath(): void
  /** Resolves when every worker has lost its server; rejects when one of them was answered wrongly. */
  readonly over: Promise<void>
}

/** One file or folder belongs to one worker, told by its name, so that no two change the same one. */
interface Worker {
  readonly number: number
  readonly chance: Chance
  readonly server: Caller
  readonly model: CrashModel
  readonly tally: Tally
  readonly round: number
  made: number
}

export function startTraffic(
  server: Caller,
  model: CrashModel,
  tally: Tally,
  { round, seed }: { readonly round: number; readonly seed: number },
): Traffic {
  let isDying = false
  const work = async (number: number) => {
    const own = chance(seed * 1_000_003 + round * 101 + number)
    const worker: Worker = { number, chance: own, server, model, tally, round, made: 0 }
    for (;;) {
      try {
        await step(worker)
      } catch (error) {
        // An answer is an answer, also the last one of a dying server.
        if (!isDying || !isLoss(error)) throw error
        tally.unanswered += 1
        return
      }
    }
  }
  return {
    expectDeath() {
      isDying = true
    },
    over: Promise.all(Array.from({ length: WORKERS }, (_, number) => work(number))).then(() => {}),
  }
}

/** Whether the error tells that the server was gone, and not that it answered wrongly. */
export function isLoss(error: unknown): boolean {
  return !(error instanceof z.ZodError || error instanceof UnexpectedAnswer)
}

/** One call. What it will have done is in doubt in the model until its answer is here. */
async function step(worker: Worker): Promise<void> {
  const files = [...worker.model.files].filter(([, { name }]) => isOwn(worker, name))
  const folders = [...worker.model.folders].filter(([, { name }]) => isOwn(worker, name)).map(([id]) => id)
  const roll = worker.chance.fraction()
  if (files.length > ENOUGH_FILES && roll < 0.5) return remove(worker, files)
  if (files.length > 0 && roll < 0.1) return remove(worker, files)
  if (files.length > 0 && roll < 0.3) return move(worker, files, folders)
  if (folders.length > 0 && roll < 0.33) return removeFolder(worker, worker.chance.pick(folders))
  if (folders.length < ENOUGH_FOLDERS && roll < 0.4) return createFolder(worker, folders)
  return upload(worker, folders)
}

async function upload(worker: Worker, folders: readonly string[]): Promise<void> {
  const { chance, model, tally } = worker
  const content = crashContent(chance)
  const name = `${ownName(worker)}.bin`
  const folder = chance.pick(['root', ...folders])
  const expected = { name, size: content.length, sha256: sha256(content) }
  model.pendingFiles.set(name, { ...expected, folder })
  const way = chance.pick([uploadAtOnce, uploadSlowly, uploadResumably])
  const answer = await way(worker, content, name, folder)
  if (answer.sha256 !== expected.sha256) throw new Error(`${name} was acknowledged with another hash`)
  model.pendingFiles.delete(name)
  model.files.set(answer.slug, { ...expected, places: [folder], doubt: 'none' })
  tally.uploads += 1
}

/** What is asked of an answer to an upload. */
interface Acknowledged {
  readonly slug: string
  readonly sha256: string
}

function uploadAtOnce(
  { server }: Worker,
  content: Uint8Array<ArrayBuffer>,
  name: string,
  folder: string,
): Promise<Acknowledged> {
  return server.upload(content, name, folder)
}

/** In a few requests, each of which is acknowledged by itself. */
async function uploadResumably(
  { chance, model, server }: Worker,
  content: Uint8Array<ArrayBuffer>,
  name: string,
  folder: string,
): Promise<Acknowledged> {
  const client = tusOf(server)
  const { path, slug } = await client.start(content.length, { filename: name, folder })
  const upload = { name, slug, folder, content, told: 0 }
  model.resumable.set(path, upload)
  const piece = Math.ceil(content.length / chance.whole(1, 4))
  while (upload.told < content.length) await sendOn(client, path, upload, upload.told + piece)
  const sha256 = await finishedHash(client, path)
  model.resumable.delete(path)
  return { slug, sha256 }
}

/** Many pieces with pauses between, so that a kill finds the file half written. */
async function uploadSlowly(
  { chance, server: { url, key } }: Worker,
  content: Uint8Array<ArrayBuffer>,
  name: string,
  folder: string,
): Promise<Acknowledged> {
  const size = chance.fraction() < 0.5 ? content.length : null
  const raw = await openUpload(url, { key, name, size, folder })
  const piece = Math.ceil(content.length / 8)
  for (let at = 0; at < content.length; at += piece) {
    await raw.send(content.subarray(at, at + piece))
    await Bun.sleep(chance.whole(0, 10))
  }
  const { status, body } = await raw.finish()
  if (status !== 200) throw new UnexpectedAnswer(`a slow upload of ${name}`, status, body)
  return uploadResult.parse(JSON.parse(body))
}

async function move(
  { chance, server, tally }: Worker,
  files: readonly (readonly [string, ExpectedFile])[],
  folders: readonly string[],
): Promise<void> {
  const folder = chance.pick(['root', ...folders])
  const moved = some(chance, files)
  const before = moved.map(([, { places }]) => places)
  moved.forEach(([, file], at) => {
    file.places = [...(before[at] ?? []), folder]
  })
  const [only] = moved
  if (moved.length === 1 && only !== undefined) {
    await server.post('/api/v1/file/move', { file: only[0], folder })
  } else {
    const answer = await server.post('/api/v1/files/move', { files: moved.map(([slug]) => slug), folder })
    z.object({ success: z.literal(true) }).parse(answer)
  }
  for (const [, file] of moved) file.places = [folder]
  tally.moves += moved.length
}

async function remove(
  { chance, model, server, tally }: Worker,
  files: readonly (readonly [string, ExpectedFile])[],
): Promise<void> {
  const removed = some(chance, files)
  for (const [, file] of removed) file.doubt = 'itself'
  await server.deleteFiles(removed.map(([slug]) => slug))
  for (const [slug] of removed) forget(model, slug)
  tally.deletes += removed.length
}

async function createFolder(worker: Worker, folders: readonly string[]): Promise<void> {
  const { chance, model, server, tally } = worker
  const name = ownName(worker)
  model.pendingFolders.add(name)
  // Folders stand side by side, so that the delete of one is the delete of nothing else.
  const id = await server.createFolder(name)
  model.pendingFolders.delete(name)
  model.folders.set(id, { name, doubted: false })
  tally.folders += 1
  if (folders.length === 0 && chance.fraction() < 0.5) await upload(worker, [id])
}

async function removeFolder({ model, server, tally }: Worker, id: string): Promise<void> {
  const inside = [...model.files].filter(([, { places }]) => places.includes(id))
  const folder = model.folders.get(id)
  if (folder === undefined) return
  folder.doubted = true
  for (const [, file] of inside) file.doubt = { folder: id }
  const answer = await server.post('/folder/delete', { identifiers: [id] })
  z.object({ success: z.literal(true), files_deleted: z.literal(inside.length) }).parse(answer)
  model.folders.delete(id)
  for (const [slug] of inside) forget(model, slug)
  tally.folderDeletes += 1
}

function forget(model: CrashModel, slug: string): void {
  model.files.delete(slug)
  model.deleted.add(slug)
}

/** One of them most of the time, else up to five. */
function some<T>(chance: Chance, values: readonly T[]): T[] {
  if (chance.fraction() < 0.6) return [chance.pick(values)]
  const from = chance.whole(0, values.length - 1)
  return values.slice(from, from + 5)
}

function ownName(worker: Worker): string {
  worker.made += 1
  return `w${worker.number}-${worker.round}-${worker.made}`
}

function isOwn(worker: Worker, name: string): boolean {
  return name.startsWith(`w${worker.number}-`)
}
