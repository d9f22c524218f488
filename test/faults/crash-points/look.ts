/** Starts a server on the folder that a crash has left, and looks whether it keeps its promises. */
import { z } from 'zod'
import { startHoldfast } from '../../../src/app.ts'
import { loadConfig, settingsInForce } from '../../../src/config.ts'
import { MINUTE, systemTimers } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createLog } from '../../../src/log.ts'
import { type Caller, caller, readBack, sha256, UnexpectedAnswer } from '../../support/clients/caller.ts'
import { TUS } from '../../support/clients/tus.ts'
import { databaseOf, finishedBlobs, inconsistencies } from '../../support/storage/blob-folder.ts'
import { type CrashModel, emptyModel, reconcile } from '../crash-model.ts'
import { type Arriving, type Beginning, type NewFile, patch, type Step } from './uploads.ts'

/** A server on a data folder. */
export interface Looked extends AsyncDisposable {
  readonly url: string
  /** Makes files of uploads that have all of their bytes, which a job does otherwise, and waits for it. */
  finishUploads(): Promise<void>
  /** Runs every job twice, minutes later: what nobody refers to has become garbage and was removed by then. */
  runJobsLater(): Promise<void>
  stop(): Promise<void>
}

/** Milliseconds after which the bytes of a thumbnail that nobody finished are removed, and some more. */
const LATER = 12 * MINUTE

const silent = createLog('silent', { terminal: false })

/** In this process, which starts a dozen a second. */
export async function startHere(dataDir: string): Promise<Looked> {
  let later = 0
  const clock = {
    now: () => Date.now() + later,
    monotonic: () => performance.now() + later,
    timers: systemTimers,
  }
  const config = { ...loadConfig({}), dataDir, port: 0, minFreeSpace: 0 }
  const parts = { config, settings: settingsInForce({}), clock, random: systemRandom, log: silent }
  const server = await startHoldfast({ ...parts, way: 'dispatch' })
  const stop = once(() => server.stop())
  return {
    url: server.url,
    async finishUploads() {
      if (unfinishedUploads(dataDir) > 0) await server.runJobs()
    },
    async runJobsLater() {
      for (let round = 0; round < 2; round++) {
        later += LATER / 2
        await server.runJobs()
      }
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Does it at the first call alone. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let isDone = false
  return async () => {
    if (isDone) return
    isDone = true
    await work()
  }
}

/** What must be there after so many steps; the step after them is in doubt. */
interface Expected {
  readonly model: CrashModel
  readonly guests: readonly (NewFile & { readonly isCertain: boolean })[]
  readonly arriving: readonly (Arriving & { readonly offset: number })[]
}

export function expectedAfter(start: Beginning, steps: readonly Step[], acknowledged: number): Expected {
  const model = emptyModel()
  for (const { id, name } of [start.folder, start.crowded]) model.folders.set(id, { name, doubted: false })
  for (const file of start.files) addFile(model, file)
  const guests: (NewFile & { readonly isCertain: boolean })[] = []
  const arriving = new Map<string, Arriving & { readonly offset: number }>()
  for (const { effect } of steps.slice(0, acknowledged)) {
    if (effect.file?.folder === null) guests.push({ ...effect.file, isCertain: true })
    else if (effect.file !== undefined) addFile(model, effect.file)
    if (effect.arriving !== undefined) arriving.set(effect.arriving.path, effect.arriving)
    for (const path of effect.ended ?? []) arriving.delete(path)
    const moved = model.files.get(effect.moved?.slug ?? '')
    if (moved !== undefined) moved.places = [effect.moved?.folder ?? '']
    if (effect.deleted !== undefined) {
      model.files.delete(effect.deleted)
      model.deleted.add(effect.deleted)
    }
    if (effect.folder !== undefined)
      model.folders.set(effect.folder.id, { name: effect.folder.name, doubted: false })
    for (const [slug] of filesIn(model, effect.cleared)) {
      model.files.delete(slug)
      model.deleted.add(slug)
    }
    model.folders.delete(effect.cleared ?? '')
  }
  const doubted = steps[acknowledged]?.effect ?? {}
  for (const upload of [...arriving.values(), doubted.arriving]) {
    if (upload !== undefined) model.arriving.add(upload.slug)
  }
  if (doubted.file?.folder === null) guests.push({ ...doubted.file, isCertain: false })
  else if (doubted.file !== undefined) {
    const { folder, ...content } = doubted.file
    model.pendingFiles.set(content.name, { ...content, folder })
  }
  for (const path of doubted.ended ?? []) arriving.delete(path)
  const moving = model.files.get(doubted.moved?.slug ?? '')
  if (moving !== undefined) moving.places = [...moving.places, doubted.moved?.folder ?? '']
  const deleting = model.files.get(doubted.deleted ?? '')
  if (deleting !== undefined) deleting.doubt = 'itself'
  if (doubted.folder !== undefined) model.pendingFolders.add(doubted.folder.name)
  for (const [, file] of filesIn(model, doubted.cleared)) file.doubt = { folder: doubted.cleared ?? '' }
  const clearing = model.folders.get(doubted.cleared ?? '')
  if (clearing !== undefined) clearing.doubted = true
  return { model, guests, arriving: [...arriving.values()] }
}

const filesIn = ({ files }: CrashModel, folder: string | undefined) =>
  [...files].filter(([, { places }]) => folder !== undefined && places.includes(folder))

function addFile({ files }: CrashModel, { slug, folder, ...content }: NewFile): void {
  files.set(slug, { ...content, places: [folder ?? 'root'], doubt: 'none' })
}

/** Everything that is wrong with the folder, empty when nothing is. */
export async function problemsIn(
  dataDir: string,
  key: string,
  expected: Expected,
  start: (dataDir: string) => Promise<Looked> = startHere,
): Promise<string[]> {
  await using server = await start(dataDir)
  const account = caller(server.url, key)
  // What has all of its bytes becomes a file now, which must not come between the list and its sums.
  await server.finishUploads()
  const problems = await reconcile(expected.model, account)
  for (const guest of expected.guests) problems.push(...(await guestProblems(server.url, guest)))
  for (const upload of expected.arriving) problems.push(...(await resumed(account, upload)))
  await server.runJobsLater()
  await server.stop()
  problems.push(...inconsistencies(dataDir, { cleaned: true }), ...rowProblems(dataDir))
  return problems
}

async function guestProblems(
  url: string,
  guest: NewFile & { readonly isCertain: boolean },
): Promise<string[]> {
  try {
    const read = await readBack(url, guest.slug)
    return read.sha256 === guest.sha256 ? [] : [`${guest.name} has other bytes than those sent`]
  } catch (error) {
    const isMissing = error instanceof UnexpectedAnswer && error.status === 404
    return isMissing && !guest.isCertain ? [] : [`${guest.name} cannot be read: ${error}`]
  }
}

/** Sends the rest of the upload from where the server says. */
async function resumed(account: Caller, upload: Arriving & { readonly offset: number }): Promise<string[]> {
  const { path, content, name, isPart, knowsLength, slug } = upload
  const headers = { ...TUS, authorization: `Bearer ${account.key}` }
  const head = await fetch(account.url + path, { method: 'HEAD', headers, keepalive: false })
  const offset = Number(head.headers.get('upload-offset') ?? Number.NaN)
  if (!(offset >= upload.offset)) {
    return [`${name} was acknowledged up to ${upload.offset}, and is at ${offset} (${head.status})`]
  }
  if (isPart) return []
  const isWhole = knowsLength && offset === content.length
  if (!isWhole) await patch(account, path, offset, content.slice(offset), knowsLength ? null : content.length)
  const read = await readBack(account.url, slug)
  return read.sha256 === sha256(content)
    ? []
    : [`${name} went on at ${offset} and has other bytes than those sent`]
}

/** Reservations without an upload, garbage that stayed, and totals that do not add up. */
function rowProblems(dataDir: string): string[] {
  const count = (what: string, sql: string) => {
    const left = countOf(dataDir, sql)
    return left === 0 ? [] : [`${left} ${what}`]
  }
  return [
    ...count(
      'reservations without an upload',
      'select count(*) n from reservations where key not in (select key from uploads)',
    ),
    ...count(
      'blobs are garbage still',
      // A thumbnail that a job was making when the server stopped is due after that.
      `select count(*) n from blob_garbage where due_at <= ${Date.now() + LATER}`,
    ),
    ...(finishedBlobs(dataDir).length > 0 ? [] : ['there is no blob at all']),
  ]
}

/** Uploads that have all of their bytes and are no files yet. */
export function unfinishedUploads(dataDir: string): number {
  return countOf(dataDir, "select count(*) n from uploads where state = 'processing' and ended_at is null")
}

function countOf(dataDir: string, sql: string): number {
  using database = databaseOf(dataDir)
  return z.object({ n: z.number() }).parse(database.query(sql).get()).n
}
