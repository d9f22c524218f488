/**
 * Uploads that were started and of which no byte has come. A row costs little, but a sender may ask for any number of them,
 * so there is a ceiling, which all guests share by their networks, and an hour.
 */
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

/** For so long one waits for its first byte, from its creation or the last byte from its account or address on. */
export const EMPTY_LASTS = HOUR

/** What was started or sent to more recently ends only for a network that holds less. */
const IDLE_AFTER = MINUTE
/** Of those that are idle longest so many are looked at: of one that comes in parts the row does not tell what has come. */
const LOOKED_AT = 1000

/** Seconds until it is worth trying again: most that wait get their bytes, or are ended, within that. */
const EMPTY_RETRY = 600

/** Where an upload comes from, as its row has it; nulls for an account. */
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
 * Makes room for one more upload without a byte: where the ceiling is reached, the one of a guest or a contributor ends that
 * has been idle longest in the network that holds most. Throws Refusal RATE_LIMITED when the address has as many as one may
 * have, or all together have and none ends. To be called under the account's lock.
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

/** Whether no byte has come, to none of its parts either, or for a part to none of those beside it. */
export async function isEmpty(db: Database | Trx, upload: UploadRow): Promise<boolean> {
  const whole = await finalOf(db, upload)
  return (await withPartsReceived(db, whole ?? upload)).received === 0
}

/** From the widest network to the address. Rows of a version before have an address alone. */
function pathOf(origin: { network: string | null; subnet: string | null; address: string | null }): string[] {
  const { network, subnet, address } = origin
  return [...new Set([network, subnet, address])].filter((name) => name !== null)
}

function tooManyEmpty(): Refusal {
  const message = 'Too many uploads were started of which nothing has come; send their bytes, or end them'
  return new Refusal('RATE_LIMITED', message, EMPTY_RETRY)
}

/** How precisely the last byte of a sender is noted; each time costs a statement. */
const NOTED_EVERY = MINUTE
const MOST_SENDERS = 10_000

/** Notes from whom bytes come, by whatever way, for their uploads that wait. */
export class SenderActivity {
  readonly #parts: { readonly db: Database; readonly signing: Signing; readonly clock: Clock }
  /** When each sender was noted last. */
  readonly #noted = new Map<string, number>()

  constructor(parts: { readonly db: Database; readonly signing: Signing; readonly clock: Clock }) {
    this.#parts = parts
  }

  /** Bytes have come. Null where that needs no note. */
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
    // Where this fails, what the bytes are for fails or goes on by itself.
    return noteSender(db, sender, now).catch(() => void this.#noted.delete(name))
  }
}
