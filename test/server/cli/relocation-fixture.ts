/** An installation with a little of everything, and ways to look at it from outside wherever it lies. */
import { expect } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { startHoldfast } from '../../../src/app.ts'
import { loadConfig, settingsInForce } from '../../../src/config.ts'
import type { Database } from '../../../src/database/database.ts'
import { openPostgres } from '../../../src/database/postgres.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { SCOPES } from '../../../src/domain/access.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createLog } from '../../../src/log.ts'
import { openAdministration } from '../../../src/operations/administration.ts'
import type { StorageOptions } from '../../../src/storage.ts'
import { chance } from '../../support/chance.ts'
import { MAIN, type Outcome, onlyThese } from '../../support/cli/command.ts'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { type Caller, caller, readBack, sha256 } from '../../support/clients/caller.ts'
import { passwordForm } from '../../support/clients/public.ts'
import { type ChildSettings, type TemporaryFolder, temporaryFolder } from '../../support/processes/child.ts'
import { runProgram, startProgram, watchProgram } from '../../support/processes/program.ts'

/** Where an installation lies: what `HOLDFAST_` variables say. The data folder is always named. */
export type Place = ChildSettings & { readonly DATA_DIR: string }

export interface RunningPlace extends AsyncDisposable {
  readonly url: string
  /** Lets what is under way finish. */
  stop(): Promise<void>
}

export interface StoredFile {
  readonly slug: string
  readonly sha256: string
}

export interface Inventory {
  readonly key: string
  readonly revokedKey: string
  /** Files that anybody may read. */
  readonly files: readonly StoredFile[]
  readonly lockedFolder: string
  readonly password: string
  readonly lockedFile: StoredFile
  /** The highest id of a file that was ever given out; that file is deleted. */
  readonly lastFileId: number
}

const END_AT = join(import.meta.dir, 'end-at.ts')
const random = chance(20261121)

const furnished = new Map<number, Promise<{ readonly place: Place; readonly inventory: Inventory }>>()

/**
 * Puts an installation into an empty place. `small`: how many small files there are besides the others. With the same
 * number it is the same installation, as far as it can know.
 */
export async function furnish(place: Place, small = 10): Promise<Inventory> {
  const made = furnished.get(small) ?? make(small)
  furnished.set(small, made)
  const { place: original, inventory } = await made
  cpSync(original.DATA_DIR, place.DATA_DIR, { recursive: true })
  return inventory
}

async function make(small: number) {
  // It is removed with the process.
  const place = { DATA_DIR: join(temporaryFolder().path, 'data') }
  return { place, inventory: await fill(place, small) }
}

/** Fills the place through a server, and stops that. */
async function fill(place: Place, small: number): Promise<Inventory> {
  const { ann, bob, revokedKey } = await addPeople(place)
  await using server = await serve(place)
  const api = caller(server.url, ann.apiKey)
  const files: StoredFile[] = []
  const put = async (content: Uint8Array<ArrayBuffer>, name: string, folder = 'root', by: Caller = api) => {
    const { slug } = await by.upload(content, name, folder)
    return { slug, sha256: sha256(content) }
  }

  const documents = await api.createFolder('documents')
  const years = await api.createFolder('2026', documents)
  // Folders inside folders that are younger than they are.
  const archive = await api.createFolder('archive')
  await api.post('/api/v1/folder/move', { folder: documents, parent: archive })
  const inner = await api.createFolder('archive', archive)
  await api.post('/api/v1/folder/move', { folder: archive, parent: await api.createFolder('newest') })
  files.push(await put(random.bytes(5 * 1024 * 1024 + 17), 'a long one.bin', years))
  files.push(await put(new Uint8Array(0), 'empty.txt', inner))
  files.push(await put(random.bytes(10), "'; drop table files; -- 日本語 ÄÖ 🚀.txt", years))
  const shared = random.bytes(1000)
  files.push(await put(shared, 'the same.bin', documents))
  files.push(await put(shared, 'the same again.bin', 'root', caller(server.url, bob.apiKey)))
  for (let count = 0; count < small; count++) {
    files.push(await put(random.bytes(random.whole(1, 20_000)), `${count}.dat`, count % 2 ? years : 'root'))
  }

  const lockedFolder = await api.createFolder('locked')
  const password = 'correct horse'
  const lockedFile = await put(random.bytes(500), 'secret.txt', lockedFolder)
  const patched = await fetch(`${server.url}/api/v1/folder/${lockedFolder}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${ann.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ password }),
  })
  expect(patched.status).toBe(200)

  const gone = await api.createFolder('gone')
  await put(random.bytes(100), 'with its folder.txt', gone)
  await api.post('/folder/delete', { identifiers: [gone] })
  for (const { slug } of files.slice(0, 3)) await readBack(server.url, slug)
  const last = await put(random.bytes(100), 'last.txt')
  const lastFileId = await idOf(api, last.slug)
  await api.deleteFiles([last.slug])
  await server.stop()
  return { key: ann.apiKey, revokedKey, files, lockedFolder, password, lockedFile, lastFileId }
}

async function addPeople(place: Place) {
  const { accounts, keys, close } = await openAdministration(partsOf(place), { mayBegin: true })
  try {
    const [ann, bob] = [await accounts.add('ann'), await accounts.add('bob')]
    const spare = { name: 'spare', scopes: SCOPES, folder: null, expiresAt: null }
    const { apiKey: revokedKey } = await keys.add('ann', spare)
    await keys.revoke('ann', revokedKey)
    return { ann, bob, revokedKey }
  } finally {
    await close()
  }
}

/** A server on the place in this process, which is there sooner than a child. */
export async function serve(place: Place): Promise<RunningPlace> {
  const { url, stop } = await startHoldfast({
    ...partsOf(place),
    settings: settingsInForce({}),
    log: createLog('silent', { terminal: false }),
  })
  let stopped: Promise<void> | null = null
  const stopOnce = () => {
    stopped ??= stop()
    return stopped
  }
  return { url, stop: stopOnce, [Symbol.asyncDispose]: stopOnce }
}

function partsOf(place: Place): StorageOptions {
  const settings = { HOST: '127.0.0.1', PORT: '0', RATE_LIMIT: '100000', ...place }
  return { config: loadConfig(variables(settings)), clock: systemClock, random: systemRandom }
}

/** Serves a place and looks whether everything is there and works as it did. */
export async function assertServed(place: Place, inventory: Inventory): Promise<void> {
  await using server = await serve(place)
  const api = caller(server.url, inventory.key)
  for (const file of inventory.files) {
    expect(await readBack(server.url, file.slug)).toMatchObject({ sha256: file.sha256 })
    expect((await fetch(`${server.url}/d/${file.slug}`)).status).toBe(200)
  }
  expect((await api.files()).length).toBe(inventory.files.length)
  const refused = await fetch(`${server.url}/api/v1/account`, {
    headers: { authorization: `Bearer ${inventory.revokedKey}` },
  })
  expect(refused.status).toBe(401)
  await assertLocked(server, inventory)
  const { slug } = await api.upload(random.bytes(10), 'new.txt')
  expect(await idOf(api, slug)).toBeGreaterThan(inventory.lastFileId)
  await api.deleteFiles([slug])
  await server.stop()
}

async function assertLocked({ url }: RunningPlace, inventory: Inventory): Promise<void> {
  const { lockedFile, lockedFolder, password } = inventory
  await expect(readBack(url, lockedFile.slug)).rejects.toThrow('403')
  const unlock = async (tried: string) => {
    const form = passwordForm(await (await fetch(`${url}/f/${lockedFolder}`)).text())
    if (form === null) throw new Error('the locked folder asks for no password')
    const body = new URLSearchParams({ ...form.fields, password: tried })
    const answer = await fetch(url + form.action, { method: 'POST', body, redirect: 'manual' })
    return answer.headers.getSetCookie().join()
  }
  expect(await unlock('wrong horse')).toBe('')
  expect(await unlock(password)).toContain('folder_access_token=')
}

async function idOf(api: Caller, slug: string): Promise<number> {
  const detail = await api.get(`/api/v1/file/${slug}`)
  return Number(Object(Object(detail).data).id)
}

/** A connection to the place's database, with nothing brought up to date. */
export async function withDatabase<T>(place: Place, use: (db: Database) => Promise<T>): Promise<T> {
  const db =
    place.DATABASE_URL === undefined
      ? openSqlite(join(place.DATA_DIR, 'holdfast.sqlite'))
      : openPostgres(place.DATABASE_URL, { connections: 2, durable: true, report() {} })
  try {
    return await use(db)
  } finally {
    await db.destroy()
  }
}

const COMPARED = [
  'accounts',
  'api_keys',
  'folders',
  'blobs',
  'files',
  'rate_windows',
  'request_days',
] as const

/** Every row of the tables that go along, by table, in the order of their keys; and the secret that signs links. */
export function everyRow(place: Place): Promise<Record<string, unknown>> {
  return withDatabase(place, async (db) => {
    const found: Record<string, unknown> = {}
    for (const table of COMPARED) {
      const { rows } = await sql<object>`select * from ${sql.table(table)} order by 1, 2`.execute(db)
      found[table] = rows
    }
    found.secret = await db.selectFrom('meta').select('value').where('key', '=', 'link_secret').execute()
    return found
  })
}

/** Runs a command with the place's settings. */
export function holdfastAt(
  place: Place,
  words: readonly string[],
  more: ChildSettings = {},
): Promise<Outcome> {
  return holdfast(parentOf(place), words, variables({ ...place, ...more }))
}

export function relocate(place: Place, words: readonly string[], more: ChildSettings = {}): Promise<Outcome> {
  return holdfastAt(place, ['relocate', ...words], more)
}

/**
 * Starts a relocation, which ends itself with the signal when it has said the words on standard error and the event loop
 * has turned so often since. Throws when it comes to its end before.
 */
export async function relocateUntil(
  place: Place,
  words: readonly string[],
  { said, signal, turns = 0 }: { said: string; signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'; turns?: number },
  more: ChildSettings = {},
): Promise<Outcome> {
  const outcome = await runProgram([process.execPath, '--preload', END_AT, MAIN, 'relocate', ...words], {
    cwd: parentOf(place),
    env: {
      ...onlyThese(variables({ ...place, ...more })),
      END_AT: said,
      END_WITH: signal,
      END_AFTER: String(turns),
    },
  })
  if (outcome.code === 0) throw new Error(`the relocation was over before ${signal} at "${said}"`)
  return outcome
}

/** Runs `serve`, and ends it as soon as it listens after all; a server that refuses to start ends with 1. */
export async function tryToServe(place: Place): Promise<Outcome> {
  const program = startProgram([process.execPath, MAIN, 'serve'], {
    cwd: parentOf(place),
    env: onlyThese(variables({ HOST: '127.0.0.1', PORT: '0', ...place })),
  })
  return watchProgram(program, ({ output }) => {
    if (output.includes('"msg":"listening"')) program.kill('SIGTERM')
  })
}

function parentOf(place: Place): string {
  return place.DATA_DIR.replace(/\/[^/]*$/, '')
}

function variables(settings: ChildSettings): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [`HOLDFAST_${name}`, value]))
}

/** A folder of the test's own, with the place for an installation in `data`. */
export function home(): TemporaryFolder & { readonly place: Place } {
  const folder = temporaryFolder()
  return { ...folder, place: { DATA_DIR: join(folder.path, 'data') } }
}

export function blobPath(place: Place, key: string): string {
  return join(place.DATA_DIR, 'blobs', key.slice(0, 2), key)
}
