import * as z from 'zod/mini'
import { type Caller, isRestricted } from '../core/callers.ts'
import type { Nodes } from '../core/nodes/nodes.ts'
import { nodeExists } from '../core/nodes/nodes.ts'
import { type Holding, holderOf, type SharedCeiling, Shares } from '../core/shares.ts'
import type { Database, Trx } from '../database/database.ts'
import { preparedChange } from '../database/prepared.ts'
import { type Clock, DAY, SECOND, sleep } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName } from '../domain/file-name.ts'
import {
  type FileId,
  type FolderId,
  type FolderPlace,
  isSha256,
  isSlug,
  type NodeId,
  parseFolderPlace,
  type Sha256,
  type Slug,
  type Uuid,
} from '../domain/ids.ts'
import type { StoredFile } from './commit.ts'
import type { BodyReader, PartSink } from './multipart.ts'
import { assertNotRefused, uploadInterrupted } from './refusals.ts'
import type { UploadFormat } from './upload-format.ts'

/** A request repeated because its answer was lost stores no second file. */
export interface Idempotency {
  /**
   * Finds the request of the last 24 hours, waiting a while for one under way; else this is the first. Throws Refusal
   * REQUEST_UNDER_WAY, or CONTENT_REFUSED for a file that was taken down.
   */
  begin(
    caller: Caller,
    route: string,
    key: string,
  ): Promise<{ readonly earlier: EarlierRequest | EarlierTransfer } | { readonly first: FirstRequest }>
  forgetOld(): Promise<void>
}

export interface KeyedRequest {
  readonly name: string
  readonly place: FolderPlace
  readonly length: number | null
}

export interface EarlierRequest {
  readonly file: StoredFile
  readonly request: KeyedRequest
}

/** A transfer, by the id of its folder; `request`: HMAC of what was asked for. */
export interface EarlierTransfer {
  readonly transfer: FolderId
  readonly request: string
}

export interface FirstRequest {
  /** Call in the transaction that stores the file or makes the transfer. Throws Refusal STORAGE_UNAVAILABLE when the node lost the key. */
  store(trx: Trx, earlier: EarlierRequest | EarlierTransfer): Promise<void>
  /** Call at the request's end: a failed one leaves nothing behind. */
  end(isStored: boolean): Promise<void>
}

const GOOD_FOR = DAY

/** Milliseconds. */
const PATIENCE = 20 * SECOND
const LOOK_AGAIN = 100

/** Per key in this process; more are refused at once. */
const MOST_WAITING = 16

/** Each waiter asks the database ten times a second. */
const WAITERS: SharedCeiling = {
  all: { holders: 256, size: 0 },
  each: { holders: 32, size: 0 },
  kept: 1 / 4,
  idleAfter: PATIENCE,
}

/** Seconds. */
const UNDER_WAY_RETRY = 10

export function createIdempotency(parts: {
  db: Database
  nodes: Nodes
  clock: Clock
  report: (error: unknown) => void
}): Idempotency {
  const { db, nodes, clock, report } = parts
  /** Rows of this process without an entry are leftovers. */
  const running = new Set<string>()
  const waiters = new Shares(clock, WAITERS)
  const waiting = new Map<string, number>()

  async function isNobodys({ node }: KeyUse): Promise<boolean> {
    // This process is looking at the key, so it has no first request under way.
    return node === null || node === nodes.id() || !(await nodeExists(db, node))
  }

  async function isFirst(present: KeyUse): Promise<boolean> {
    const isOver = present.created_at + GOOD_FOR <= clock.now()
    if (isOver || (present.result === null && (await isNobodys(present))))
      return renewKeyUse(db, present, useNow())
    return false
  }

  const useNow = () => ({ created_at: clock.now(), node: nodes.id() })

  function first(key: UsedKey): FirstRequest {
    const node = nodes.id()
    return {
      async store(trx, earlier) {
        if (!(await setKeyResult(trx, key, node, JSON.stringify(earlier)))) throw uploadInterrupted()
      },
      async end(isStored) {
        if (!isStored) await dropKeyUse(db, key, node).catch(report)
        running.delete(nameOf(key))
      },
    }
  }

  /** Null while the first request is under way. */
  async function look(key: UsedKey): Promise<Begun | null> {
    const name = nameOf(key)
    if (running.has(name)) return null
    running.add(name)
    let isOurs = false
    try {
      isOurs = await insertKeyUse(db, key, useNow())
      if (isOurs) return { first: first(key) }
      const present = await findKeyUse(db, key)
      if (present === undefined) return null
      const earlier = await earlierOf(db, present, clock.now())
      if (earlier !== null) return { earlier }
      isOurs = await isFirst(present)
      return isOurs ? { first: first(key) } : null
    } finally {
      if (!isOurs) running.delete(name)
    }
  }

  /** Throws Refusal REQUEST_UNDER_WAY. */
  function takePlace(caller: Caller, ended: AbortController): Holding {
    const bucket = caller.kind === 'guest' ? caller.bucket : ''
    try {
      return waiters.begin(holderOf({ caller, bucket }), 0, () => ended.abort(underWay()))
    } catch (error) {
      throw error instanceof Refusal ? underWay() : error
    }
  }

  async function wait(key: UsedKey, ended: AbortSignal): Promise<Begun> {
    const deadline = clock.monotonic() + PATIENCE
    while (clock.monotonic() <= deadline) {
      await sleep(clock.timers, LOOK_AGAIN)
      ended.throwIfAborted()
      const begun = await look(key)
      if (begun !== null) return begun
    }
    throw underWay()
  }

  return {
    async begin(caller, route, text) {
      const key = usedKey(caller, route, text)
      const begun = await look(key)
      if (begun !== null) return begun
      const name = nameOf(key)
      const before = waiting.get(name) ?? 0
      if (before >= MOST_WAITING) throw underWay()
      const ended = new AbortController()
      const place = takePlace(caller, ended)
      waiting.set(name, before + 1)
      try {
        return await wait(key, ended.signal)
      } finally {
        place.end()
        const left = (waiting.get(name) ?? 1) - 1
        if (left === 0) waiting.delete(name)
        else waiting.set(name, left)
      }
    },

    forgetOld: () => dropOldKeyUses(db, clock.now() - GOOD_FOR),
  }
}

type Begun = { readonly earlier: EarlierRequest | EarlierTransfer } | { readonly first: FirstRequest }

/** Null without a result and after its expiry. Throws Refusal CONTENT_REFUSED. */
async function earlierOf(
  db: Database,
  present: KeyUse,
  now: number,
): Promise<EarlierRequest | EarlierTransfer | null> {
  if (present.created_at + GOOD_FOR <= now || present.result === null) return null
  const earlier = storedResult.parse(JSON.parse(present.result))
  if ('file' in earlier) await assertNotRefused(db, earlier.file.sha256)
  return earlier
}

function underWay(): Refusal {
  const message = 'The first request with this Idempotency-Key is still under way; try again later'
  return new Refusal('REQUEST_UNDER_WAY', message, UNDER_WAY_RETRY)
}

/** A guest's address is hashed too, so the table reveals none. */
function usedKey(caller: Caller, route: string, key: string): UsedKey {
  const text = JSON.stringify([route, caller.kind === 'guest' ? caller.bucket : null, key])
  return { caller: nameOfCaller(caller), hash: Bun.SHA256.hash(text, 'hex') as Sha256 }
}

/** Restricted callers must not learn of other uploads of the account. */
function nameOfCaller(caller: Caller): string {
  if (caller.kind === 'guest') return 'guest'
  const { account, by } = caller
  return by.kind === 'key' && isRestricted(caller) ? `key:${by.key}` : `account:${account}`
}

const nameOf = ({ caller, hash }: UsedKey) => `${caller} ${hash}`

const storedFile = z.object({
  file: z.object({
    id: z.custom<FileId>(Number.isSafeInteger),
    uuid: z.custom<Uuid>((value) => typeof value === 'string'),
    slug: z.custom<Slug>((value) => typeof value === 'string' && isSlug(value)),
    size: z.number(),
    sha256: z.custom<Sha256>((value) => typeof value === 'string' && isSha256(value)),
  }),
  request: z.object({
    name: z.string(),
    place: z.pipe(
      z.string(),
      z.transform((text: string) => parseFolderPlace(text)),
    ),
    length: z.nullable(z.number()),
  }),
})

const storedTransfer = z.object({
  transfer: z.custom<FolderId>(Number.isSafeInteger),
  request: z.string(),
})
const storedResult = z.union([storedFile, storedTransfer])

/** Guests may share an address with others. */
const LONGEST_KEY = 255
const SHORTEST_GUEST_KEY = 16

/** Throws Refusal INVALID_REQUEST for a key that is too short or too long. */
export function checkedKey(key: string | null, caller: Caller): string | null {
  if (key === null) return null
  const shortest = caller.kind === 'guest' ? SHORTEST_GUEST_KEY : 1
  if (key.length >= shortest && key.length <= LONGEST_KEY) return key
  throw new Refusal('INVALID_REQUEST', `An Idempotency-Key has ${shortest} to ${LONGEST_KEY} characters`)
}

/** Reads the body only to count it, where either declared no length. Throws Refusal IDEMPOTENCY_MISMATCH. */
export async function repeatedFile(
  body: BodyReader,
  place: FolderPlace,
  format: UploadFormat,
  earlier: EarlierRequest | EarlierTransfer,
): Promise<StoredFile> {
  if (!('file' in earlier)) throw mismatch('name')
  const { file, request } = earlier
  if (request.place !== place) throw mismatch('folder')
  let length = 0
  try {
    await format.read(body, async (announced) => {
      if (cleanFileName(announced.name) !== request.name) throw mismatch('name')
      if (announced.length === null || request.length === null)
        return counting(file.size, (bytes) => (length += bytes))
      if (announced.length !== request.length) throw mismatch('length')
      throw new Recognized()
    })
  } catch (error) {
    if (error instanceof Recognized) return file
    throw error
  }
  if (length !== file.size) throw mismatch('length')
  return file
}

class Recognized extends Error {}

function counting(most: number, count: (bytes: number) => number): PartSink {
  return {
    write(chunk) {
      if (count(chunk.byteLength) > most) throw mismatch('length')
    },
    end() {},
  }
}

function mismatch(what: 'folder' | 'name' | 'length'): Refusal {
  return new Refusal(
    'IDEMPOTENCY_MISMATCH',
    `This Idempotency-Key was used for an upload with another ${what}; use a new key for each upload`,
  )
}

export interface UsedKey {
  readonly caller: string
  readonly hash: Sha256
}

export interface KeyUse extends UsedKey {
  readonly created_at: number
  readonly node: NodeId | null
  readonly result: string | null
}

/** False when the key was used before. */
export async function insertKeyUse(
  db: Database,
  { caller, hash }: UsedKey,
  { created_at, node }: { readonly created_at: number; readonly node: NodeId },
): Promise<boolean> {
  return (await insertUse(db, caller, hash, created_at, node)).changed > 0
}

const insertUse = preparedChange((db, caller: string, hash: Sha256, created_at: number, node: NodeId) =>
  db
    .insertInto('idempotency_keys')
    .values({ caller, hash, created_at, node })
    .onConflict((conflict) => conflict.columns(['caller', 'hash']).doNothing()),
)

export function findKeyUse(db: Database, { caller, hash }: UsedKey): Promise<KeyUse | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('caller', '=', caller)
    .where('hash', '=', hash)
    .executeTakeFirst()
}

/** Takes over a key that has expired or whose node is gone; only one of concurrent calls succeeds. */
export async function renewKeyUse(
  db: Database,
  seen: KeyUse,
  use: { created_at: number; node: NodeId },
): Promise<boolean> {
  const result = await db
    .updateTable('idempotency_keys')
    .set({ ...use, result: null })
    .where('caller', '=', seen.caller)
    .where('hash', '=', seen.hash)
    .where('created_at', '=', seen.created_at)
    .where('node', seen.node === null ? 'is' : '=', seen.node)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** False when the key was taken from this node. */
export async function setKeyResult(
  trx: Trx,
  { caller, hash }: UsedKey,
  node: NodeId,
  result: string,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('idempotency_keys')
    .set({ result, node: null })
    .where('caller', '=', caller)
    .where('hash', '=', hash)
    .where('node', '=', node)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function dropKeyUse(db: Database, { caller, hash }: UsedKey, node: NodeId): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('caller', '=', caller)
    .where('hash', '=', hash)
    .where('node', '=', node)
    .where('result', 'is', null)
    .execute()
}

export async function dropOldKeyUses(db: Database, before: number): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('created_at', '<=', before).execute()
}
