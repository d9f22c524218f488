import { ownerOf, reachOf, type Sender } from '../../core/callers.ts'
import { hashToken, type Signing } from '../../core/hmac.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { StoreHealth } from '../../core/store/store-health.ts'
import type { Database, Trx } from '../../database/database.ts'
import { isUniqueViolation, lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, HOUR, MINUTE } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { cleanFileName } from '../../domain/file-name.ts'
import { parseFolderName } from '../../domain/folder-name.ts'
import { type AccountId, type FolderPlace, GUESTS, type UploadToken } from '../../domain/ids.ts'
import { Network, networksOf } from '../../domain/networks.ts'
import { makeBlobKey, makeSlug, makeUploadToken, makeUuid, type Random } from '../../domain/random.ts'
import type { Answers } from '../../domain/upload-terms.ts'
import { ensurePath } from '../../files/folders/folders.ts'
import { placeAndTransfer } from '../../files/folders/places.ts'
import { assertRoomForFolders, assertTakesMore } from '../../files/transfers.rows.ts'
import type { Contributions } from '../contributions.ts'
import { guestAddress, guestBudget } from '../guest-admission.ts'
import { assertFileSize, uploadInterrupted } from '../refusals.ts'
import { Reservation, type ReservationLimits, type Reservations, reserveInAccount } from '../reservations.ts'
import {
  countEmpty,
  declareSize,
  type EmptyUploadsOf,
  emptyByAddress,
  growUploadReservation,
  idleEmpty,
  insertUpload,
  type NewUploadRow,
  noteSender,
  type UploadRow,
  uploadById,
  uploadByToken,
} from '../uploads.rows.ts'
import { abandonIn, areWhole, joinPartial, sizeOfPartial, withPartialReceived } from './concatenation.ts'

type WantedRow = Pick<NewUploadRow, 'kind' | 'size' | 'concat'> & { readonly token: UploadToken }

export class UploadCreation {
  readonly #parts

  constructor(parts: {
    readonly db: Database
    readonly health: StoreHealth
    readonly reservations: UploadReservations
    readonly contributions: Contributions
    readonly clock: Clock
    readonly random: Random
    readonly signing: Signing
    readonly maxFileSize: number
    readonly maxFolderDepth: number
  }) {
    this.#parts = parts
  }

  /** Reserves all of it. Throws Refusal as `ResumableUploads.create` does. */
  async create(
    caller: Sender,
    request: NewUpload,
    parts: readonly UploadRow[],
  ): Promise<{ token: UploadToken; upload: UploadRow }> {
    const { db, health, random, reservations, maxFileSize } = this.#parts
    health.assertUsable()
    const { content } = request
    const token = repeatableToken(request) ?? makeUploadToken(random)
    if (content.kind === 'final') {
      const size = sizeOfPartial(parts)
      assertFileSize(size, maxFileSize)
      if (!areWhole(parts)) {
        const missing = parts.reduce((sum, part) => sum + Math.max(0, (part.size ?? 0) - part.reserved), 0)
        if (caller.kind === 'guest') await reservations.check(caller, missing)
        return { token, upload: await this.#insertFinal(caller, request, content, token, size) }
      }
      const final = await this.#insertFinal(caller, request, content, token, null)
      return { token, upload: await joinPartial(db, final, parts, size) }
    }
    assertFileSize(content.size ?? 0, maxFileSize)
    const { kind, size } = content
    const concat = kind === 'whole' ? null : content.concat
    return { token, upload: await this.#insert(caller, request, size ?? 0, { token, kind, size, concat }) }
  }

  /** May return an equal earlier request's row that waits, or whose node died. A size means waiting for parts. */
  async #insertFinal(
    caller: Sender,
    request: NewUpload,
    { concat }: FinalContent,
    token: UploadToken,
    size: number | null,
  ): Promise<UploadRow> {
    const { db } = this.#parts
    const find = () => uploadByToken(db, hashToken(token))
    const begun = await find()
    if (begun !== undefined) return begun
    try {
      // The parts have their reservations.
      return await this.#insert(caller, request, 0, { token, kind: 'final', size, concat })
    } catch (error) {
      const same = isUniqueViolation(error) ? await find() : undefined
      if (same !== undefined) return same
      throw error
    }
  }

  async #insert(
    caller: Sender,
    request: NewUpload,
    bytes: number,
    { token, ...wanted }: WantedRow,
  ): Promise<UploadRow> {
    const { db, reservations, contributions, clock, random, signing, maxFolderDepth } = this.#parts
    const { place, path } = request
    const reach = reachOf(caller)
    const { account } = reach
    const names = path.map(parseFolderName)
    // Before reserving, so that a missing place is reported as such.
    const { folder: start, transfer } = await placeAndTransfer(db, reach, place)
    const now = clock.now()
    const uuid = makeUuid(random)
    const name = cleanFileName(request.name)
    return reservations.create(caller, bytes, async (trx) => {
      if (caller.kind === 'contributor') {
        const { answers = {} } = request
        if (names.length > 0) await contributions.assertFewFolders(trx, start)
        await contributions.take(trx, caller, {
          name,
          size: declaredUploadSize(request),
          answers,
          uuid,
          reservation: null,
        })
      }
      if (transfer !== null) {
        await assertTakesMore(trx, transfer, now)
        if (names.length > 0) await assertRoomForFolders(trx, transfer)
      }
      return {
        account_id: account,
        folder_id: await ensurePath(trx, account, start, names, { random, now, maxDepth: maxFolderDepth }),
        name,
        uuid,
        declared_type: request.declaredType,
        metadata: request.metadata,
        received: 0,
        created_at: now,
        used_at: now,
        ...originOf(signing, caller),
        ...(caller.kind === 'contributor' ? { link_id: caller.link } : {}),
        transfer,
        ...wanted,
        token_hash: hashToken(token),
        slug: makeSlug(random),
        key: makeBlobKey(random),
        state: wanted.size === 0 ? ('processing' as const) : ('uploading' as const),
      }
    })
  }
}

/** Derived from the request: a repetition finds the upload, since partial uploads can be claimed but once. */
export function repeatableToken({ content, metadata }: NewUpload): UploadToken | null {
  if (content.kind !== 'final' || content.key === null) return null
  return finalToken(content.key, content.parts, metadata)
}

/** As secret as the parts' own tokens. */
export function finalToken(key: string, parts: readonly UploadToken[], metadata: string): UploadToken {
  const secret = JSON.stringify(['final upload', key, parts, metadata])
  return Bun.SHA256.hash(secret, 'hex').slice(0, 32) as UploadToken
}

interface FinalContent {
  readonly kind: 'final'
  readonly parts: readonly UploadToken[]
  readonly concat: string
  readonly key: string | null
}

export interface NewUpload {
  readonly place: FolderPlace
  /** Whether the request names the folder; guests may not. */
  readonly namesFolder: boolean
  /** Folders, created where missing. */
  readonly path: readonly string[]
  readonly name: string
  readonly declaredType: string | null
  /** As sent, and returned so. */
  readonly metadata: string
  readonly answers?: Answers
  readonly content:
    | { readonly kind: 'whole'; readonly size: number | null }
    | { readonly kind: 'partial'; readonly size: number | null; readonly concat: string }
    | FinalContent
}

/** Throws Refusal INVALID_REQUEST: a link takes each file as one upload of known length. */
export function declaredUploadSize({ content }: NewUpload): number {
  if (content.kind === 'whole' && content.size !== null) return content.size
  throw new Refusal('INVALID_REQUEST', 'An upload by a link needs Upload-Length, and is not made of parts')
}

/**
 * They belong to the upload, not to a node. A guest's hourly bytes are not returned, so that starting uploads cannot
 * hold
 * all guests' storage. A contributor's also count for the link: see `Contributions.grow`.
 * Every method throws Refusal STORAGE_LIMIT_EXCEEDED, STORAGE_UNAVAILABLE or RATE_LIMITED, and then changes nothing.
 */
export class UploadReservations {
  readonly #parts

  constructor(parts: {
    readonly db: Database
    readonly rates: RateLimits
    readonly reservations: Reservations
    readonly limits: ReservationLimits & { readonly maxFileSize: number }
    readonly signing: Signing
    readonly clock: Clock
    readonly contributions: Contributions
  }) {
    this.#parts = parts
  }

  /**
   * Reservations of guests and contributors grow as bytes come. Throws Refusal RATE_LIMITED for too many empty uploads.
   */
  async create(
    caller: Sender,
    size: number,
    newRow: (trx: Trx) => Promise<NewUploadRow>,
  ): Promise<UploadRow> {
    const { reservations } = this.#parts
    const account = ownerOf(caller)
    // Clients without an account could hold others' storage by asking for it.
    const isStranger = caller.kind !== 'account'
    const bytes = isStranger ? 0 : size
    if (isStranger) await reservations.check(caller, size)
    return this.#reserving(caller, account, bytes, async (trx) => {
      await makeRoomForEmpty(trx, this.#parts, caller)
      const row = await newRow(trx)
      await reserveInAccount(trx, account, bytes, this.#parts.limits)
      return insertUpload(trx, row, bytes)
    })
  }

  /** Refuses what could never fit, before anything is sent. */
  check(caller: Sender, bytes: number): Promise<void> {
    return this.#parts.reservations.check(caller, bytes)
  }

  /** Grows with the bytes where not all were reserved at creation. */
  of(caller: Sender, upload: UploadRow): Reservation {
    const { account_id: account, reserved, size } = upload
    return new Reservation({
      account,
      bytes: reserved,
      most: size ?? this.#parts.limits.maxFileSize,
      reserve: (bytes) => this.#reserving(caller, account, bytes, (trx) => this.#reserve(trx, upload, bytes)),
    })
  }

  /** A guest's reservation grows by `of`. Returns the reserved bytes. */
  async declareSize(caller: Sender, upload: UploadRow, size: number): Promise<number> {
    const { id, account_id, reserved } = upload
    const left = Math.max(0, size - reserved)
    const missing = account_id === GUESTS ? 0 : left
    if (account_id === GUESTS) await this.#parts.reservations.check(caller, left)
    await this.#reserving(caller, account_id, missing, async (trx) => {
      await this.#reserve(trx, upload, missing)
      if (!(await declareSize(trx, id, size))) throw uploadInterrupted()
    })
    return reserved + missing
  }

  #reserving<T>(
    caller: Sender,
    account: AccountId,
    bytes: number,
    work: (trx: Trx) => Promise<T>,
  ): Promise<T> {
    const { db, rates, reservations, limits } = this.#parts
    const transaction = () =>
      inTransaction(db, async (trx) => {
        await lockAccount(trx, account)
        return work(trx)
      })
    const budget = guestBudget(caller, rates, limits.guestHourlySize)
    return reservations.withFreeSpace(account, bytes, () => budget.spend(bytes, transaction))
  }

  async #reserve(
    trx: Trx,
    { id, account_id, link_id }: Pick<UploadRow, 'id' | 'account_id' | 'link_id'>,
    bytes: number,
  ): Promise<void> {
    if (link_id !== null) {
      const upload = await uploadById(trx, id)
      await this.#parts.contributions.grow(trx, link_id, bytes, upload?.reserved === 0)
    }
    await reserveInAccount(trx, account_id, bytes, this.#parts.limits)
    await growUploadReservation(trx, id, bytes)
  }
}

/** Clients may create any number, so there is a ceiling, which guests share by network, and a time limit. */

/**
 * Uploads of one account, by one link, or of all guests together, and of one guest's address, that may wait for their first
 * byte. Behind one address may be an office, each of whose pages starts fifty ahead.
 */
export const MOST_EMPTY = 10_000
export const MOST_EMPTY_OF_ADDRESS = 1000

/** Milliseconds from creation, or from the last byte of the account or address. */
export const EMPTY_LASTS = HOUR

/** More recently used ones end only for a network that holds fewer. */
const IDLE_AFTER = MINUTE
/** Rows examined: a final upload's does not show its parts' bytes. */
const LOOKED_AT = 1000

/** Seconds, in which most empty uploads get bytes or end. */
const EMPTY_RETRY = 600

/** All null for an account. */
export function originOf(
  signing: Signing,
  caller: Sender,
): Pick<UploadRow, 'network' | 'subnet' | 'address'> {
  if (caller.kind === 'account') return { network: null, subnet: null, address: null }
  const [network = null, ...inner] = networksOf(caller.bucket).map((name) => guestAddress(signing, name))
  const address = inner.at(-1) ?? network
  return { network, subnet: inner.length > 1 ? (inner[0] ?? null) : null, address }
}

/**
 * At the ceiling the one idle longest ends, in the network that holds most. Throws Refusal RATE_LIMITED at the
 * address's limit, or when none can end. Call under the account's lock.
 */
export async function makeRoomForEmpty(
  trx: Trx,
  { signing, clock }: { readonly signing: Signing; readonly clock: Clock },
  caller: Sender,
): Promise<void> {
  const of = { account: ownerOf(caller), link: caller.kind === 'contributor' ? caller.link : null }
  const { network, subnet, address } = originOf(signing, caller)
  if (
    address !== null &&
    (await countEmpty(trx, of, address, MOST_EMPTY_OF_ADDRESS)) === MOST_EMPTY_OF_ADDRESS
  ) {
    throw tooManyEmpty()
  }
  if ((await countEmpty(trx, of, null, MOST_EMPTY)) < MOST_EMPTY) return
  if (address === null) throw tooManyEmpty()
  const now = clock.now()
  const last = await idleLongest(trx, of, pathOf({ network, subnet, address }), now)
  if (last === null) throw tooManyEmpty()
  await abandonIn(trx, last, 'others took its place', now)
}

async function idleLongest(
  trx: Trx,
  of: EmptyUploadsOf,
  path: readonly string[],
  now: number,
): Promise<UploadRow | null> {
  const all = new Network()
  for (const held of await emptyByAddress(trx, of)) all.add(pathOf(held), held.count, 0)
  const { addresses, anyway } = all.whoYields(path, 1, 'holders')
  const names = new Set(addresses.flatMap((each) => each.path.at(-1) ?? []))
  const before = anyway ? now : now - IDLE_AFTER
  const idle = await idleEmpty(trx, of, { addresses: [...names], before, limit: LOOKED_AT })
  for (const upload of idle) {
    if (upload.address !== null && names.has(upload.address) && (await isEmpty(trx, upload))) return upload
  }
  return null
}

/** For a final upload, looks at its partial uploads. */
export async function isEmpty(db: Database | Trx, upload: UploadRow): Promise<boolean> {
  return (await withPartialReceived(db, upload)).received === 0
}

/** From the widest network to the address. */
function pathOf(origin: { network: string | null; subnet: string | null; address: string | null }): string[] {
  const { network, subnet, address } = origin
  return [...new Set([network, subnet, address])].filter((name) => name !== null)
}

function tooManyEmpty(): Refusal {
  const message = 'Too many uploads were started of which nothing has come; send their bytes, or end them'
  return new Refusal('RATE_LIMITED', message, EMPTY_RETRY)
}

/** Rate of notes, each of which costs a statement. */
const NOTED_EVERY = MINUTE
const MOST_SENDERS = 10_000

export class SenderActivity {
  readonly #parts
  readonly #noted = new Map<string, number>()

  constructor(parts: { readonly db: Database; readonly signing: Signing; readonly clock: Clock }) {
    this.#parts = parts
  }

  /** Null where no note is due. */
  came(caller: Sender): Promise<void> | null {
    const { db, signing, clock } = this.#parts
    const name = caller.kind === 'account' ? `account ${caller.account}` : caller.bucket
    const now = clock.now()
    if (Math.abs(now - (this.#noted.get(name) ?? Number.NEGATIVE_INFINITY)) < NOTED_EVERY) return null
    if (this.#noted.size >= MOST_SENDERS) this.#noted.clear()
    this.#noted.set(name, now)
    const sender =
      caller.kind === 'account'
        ? { account: caller.account }
        : { address: guestAddress(signing, caller.bucket) }
    // Best effort: the upload itself fails or goes on by itself.
    return noteSender(db, sender, now).catch(() => void this.#noted.delete(name))
  }
}
