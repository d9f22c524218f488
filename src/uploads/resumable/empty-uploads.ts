/** Clients may create any number, so there is a ceiling, which guests share by network, and a time limit. */
import { ownerOf, type Sender } from '../../core/callers.ts'
import type { Signing } from '../../core/hmac.ts'
import type { Database, Trx } from '../../database/database.ts'
import { type Clock, HOUR, MINUTE } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { Network, networksOf } from '../../domain/networks.ts'
import { guestAddress } from '../guest-admission.ts'
import type { UploadRow } from '../uploads.rows.ts'
import { finalOf, withPartsReceived } from './awaited-parts.ts'
import {
  countEmpty,
  type EmptyUploadsOf,
  emptyByAddress,
  idleEmpty,
  noteSender,
} from './empty-uploads.rows.ts'
import { abandonIn } from './upload-endings.ts'

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

/** For a part, looks at its siblings; for a final upload, at its parts. */
export async function isEmpty(db: Database | Trx, upload: UploadRow): Promise<boolean> {
  const whole = await finalOf(db, upload)
  return (await withPartsReceived(db, whole ?? upload)).received === 0
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
  readonly #parts: { readonly db: Database; readonly signing: Signing; readonly clock: Clock }
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
