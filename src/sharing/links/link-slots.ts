import {
  type LinkDownload,
  lockOwner,
  noteDownload,
  noteEnd,
  type OwnedLink,
} from '../../core/link-events.rows.ts'
import { countPlaces, WHOLE } from '../../core/link-places.rows.ts'
import type { Database, Trx } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { LinkDownloader, LinkRights } from '../../domain/access.ts'
import { type Clock, DAY, MINUTE } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { EventFile } from '../../domain/event-kinds.ts'
import type { FileId, LinkId, LinkProgram, LinkSlotId, LinkVisitor } from '../../domain/ids.ts'
import { isWhole, transferOfLink } from '../../files/transfers.rows.ts'
import {
  addDownloads,
  beginAgainInClaim,
  beginInClaim,
  claimOf,
  countOldClaims,
  dropGivenBack,
  endInClaim,
  hasPlaceFor,
  insertClaim,
  isHolding,
  isUsedUp,
  type LinkSlot,
  linksWithOldClaims,
  lockLink,
  reserveInClaim,
  spendGivenBack,
  visitorBrokenOff,
  visitorOf,
} from './link-slots.rows.ts'
import { linkNotFound } from './links.ts'

/** Milliseconds in which all reads by one visitor are one download. */
export const CLAIMED_FOR = DAY
/** Milliseconds between a form that takes a slot and the first requested byte. */
const RESERVED_FOR = 2 * MINUTE
/** Milliseconds after the last byte in which an expired address of a limited link can be continued. */
const IN_USE_FOR = 30 * MINUTE
/** Claims without a slot whose rest may still be requested. */
const GIVEN_BACK_KEPT = 200
const STEP = 100
/** Claims per transaction: SQLite serves no other request meanwhile. */
const CLAIMS_STEP = 500

export type LinkSlots = ReturnType<typeof createLinkClaims>

/**
 * Downloads by links. With a limit, a claim is all that one visitor reads within a day. It holds a slot while
 * bytes are being sent, and for good once half of a file or zip was. What claims below half sent adds up, and
 * a whole of it spends a slot too. A promise counts as sent until its end, so a kill leaves the slot taken.
 * After the day only the number is left. Without a limit downloads are counted in memory when they begin, and
 * written once a second.
 *
 * `failed`: called when the end of a claim could not be written, which leaves its slot taken.
 */
export function createLinkClaims(
  db: Database,
  clock: Clock,
  { keepsAddresses, failed }: { readonly keepsAddresses: boolean; readonly failed: (error: unknown) => void },
) {
  const mutex = new KeyedMutex<LinkId>()
  const counts = createLinkCounts(db, clock)
  const since = () => clock.now() - CLAIMED_FOR

  function claim(
    link: LinkId,
    downloader: LinkDownloader,
    part: PromisedBytes,
    promised: number,
  ): Promise<LinkSlotId | null> {
    return inTransaction(db, async (trx) => {
      const row = await lockLink(trx, link)
      if (row === undefined || row.revoked_at !== null) throw linkNotFound()
      if (row.max_downloads === null) return null
      await assertWholeTransfer(trx, link)
      const own = await claimOf(trx, link, downloader.visitor, since())
      const how = own === undefined ? null : belonging(own, downloader, part, promised)
      const now = clock.now()
      const hasPlace = own !== undefined && how !== null && isHolding(own, now)
      if (!hasPlace && (await countPlaces(trx, link, now)) >= row.max_downloads) throw linkUsedUp()
      if (own !== undefined && how !== null) {
        await (how === 'again' ? beginAgainInClaim : beginInClaim)(trx, own.id, promised, now)
        return own.id
      }
      await dropGivenBack(trx, link, GIVEN_BACK_KEPT, now)
      const begun = { sent: promised, running: 1, reserved_until: null, used_at: now }
      return insertClaim(trx, link, downloader, { ...begun, created_at: now })
    })
  }

  function reserve(link: LinkId, downloader: LinkDownloader): Promise<void> {
    return inTransaction(db, async (trx) => {
      const row = await lockLink(trx, link)
      if (row === undefined || row.revoked_at !== null) throw linkNotFound()
      if (row.max_downloads === null) return
      await assertWholeTransfer(trx, link)
      const now = clock.now()
      const own = await claimOf(trx, link, downloader.visitor, since())
      if (own !== undefined && isHolding(own, now)) return
      if ((await countPlaces(trx, link, now)) >= row.max_downloads) throw linkUsedUp()
      const until = now + RESERVED_FOR
      if (own !== undefined) return reserveInClaim(trx, own.id, until)
      await dropGivenBack(trx, link, GIVEN_BACK_KEPT, now)
      const empty = { sent: 0, running: 0, reserved_until: until, used_at: 0 }
      await insertClaim(trx, link, downloader, { ...empty, created_at: now })
    })
  }

  /** Notifies of a download that is final, and of the link's end when it was the last. */
  function end(link: OwnedLink, id: LinkSlotId, what: DownloadedBytes, over: Transfer): Promise<void> {
    return inTransaction(db, async (trx) => {
      await lockOwner(trx, link.account)
      await lockLink(trx, link.id)
      const now = clock.now()
      const bytes = (await endInClaim(trx, id, { ...over, now })) ?? (await spendGivenBack(trx, link.id, now))
      if (bytes !== null) await noteMade(trx, link, { times: 1, bytes, ...what }, now)
    })
  }

  function limited(link: OwnedLink, downloader: LinkDownloader, what: DownloadedBytes): ByteSlots {
    return {
      async begin(part) {
        const { start, end: last, whole } = part
        // In doubt the slot is kept: the promise is rounded up, and what was not sent is rounded down.
        const promised = whole === 0 ? WHOLE : Math.ceil(((last - start) / whole) * WHOLE)
        const id = await mutex.run(link.id, () => claim(link.id, downloader, part, promised))
        return {
          end(unsent) {
            if (id === null) return
            const back = whole === 0 ? 0 : Math.floor((unsent / whole) * WHOLE)
            const bytes = last - start - unsent
            mutex.run(link.id, () => end(link, id, what, { back, bytes })).catch(failed)
          },
        }
      },
    }
  }

  return {
    isOpenTo: ({ id, limit }: LimitedLink, visitor: LinkVisitor): Promise<boolean> =>
      hasPlaceFor(db, id, { limit, visitor, since: since(), now: clock.now() }),

    /** By a later range, or by a restart where no other slot is free. */
    async begunBy(
      { id, limit }: LimitedLink,
      program: LinkProgram,
      isLaterPart: boolean,
    ): Promise<LinkVisitor | undefined> {
      if (isLaterPart) return visitorOf(db, id, program, since())
      const begun = await visitorBrokenOff(db, id, program, since())
      return begun !== undefined && (await countPlaces(db, id, clock.now())) >= limit ? begun : undefined
    },

    count: (link: LinkId): Promise<number> => countPlaces(db, link, clock.now()),

    /**
     * Released when no byte is requested within two minutes. Does nothing without a limit, or for the owner.
     * Throws Refusal LINK_USED_UP.
     */
    async reserve({ id, visitor, isLimited }: LinkRights): Promise<void> {
      if (isLimited && visitor !== null) await mutex.run(id, () => reserve(id, visitor))
    },

    async isInUse(link: LinkId, visitor: LinkVisitor): Promise<boolean> {
      const own = await claimOf(db, link, visitor, since())
      return own !== undefined && (own.running > 0 || own.used_at + IN_USE_FOR > clock.now())
    },

    /** Null without a link, for its owner, or, without a limit, for views and previews. */
    of(
      link: LinkRights | null | undefined,
      download: boolean,
      { file, address }: DownloadedBytes,
    ): ByteSlots | null {
      if (!link || link.visitor === null) return null
      const what = { file, address: keepsAddresses ? address : null }
      if (link.isLimited) return limited(link, link.visitor, what)
      return download ? counts.of(link, what) : null
    },

    countOld: (mayGoOn: () => boolean = () => true): Promise<void> =>
      countClaimsOf(db, clock, since(), mayGoOn),

    async flush(): Promise<void> {
      await mutex.idle()
      await counts.flush()
    },
  }
}

/** A download counts for all that a transfer is going to hold. Throws Refusal FILE_ARRIVING. */
async function assertWholeTransfer(trx: Trx, link: LinkId): Promise<void> {
  const transfer = await transferOfLink(trx, link)
  if (transfer === undefined || (await isWhole(trx, transfer))) return
  throw new Refusal('FILE_ARRIVING', 'Files are still arriving; come back when all are here', ARRIVING_RETRY)
}

/** Seconds. */
const ARRIVING_RETRY = 10

interface LimitedLink {
  readonly id: LinkId
  readonly limit: number
}

interface Transfer {
  readonly back: number
  readonly bytes: number
}

async function noteMade(trx: Trx, link: OwnedLink, made: LinkDownload, now: number): Promise<void> {
  await noteDownload(trx, link, made, now)
  if (await isUsedUp(trx, link.id)) await noteEnd(trx, link, 'downloads', now)
}

async function countClaimsOf(
  db: Database,
  clock: Clock,
  before: number,
  mayGoOn: () => boolean,
): Promise<void> {
  for (let links: OwnedLink[] | null = null; links?.length !== 0 && mayGoOn(); ) {
    links = await linksWithOldClaims(db, before, STEP)
    for (const link of links) {
      if (!mayGoOn()) return
      await inTransaction(db, async (trx) => {
        await lockOwner(trx, link.account)
        await lockLink(trx, link.id)
        const uncounted = await countOldClaims(trx, link.id, before, CLAIMS_STEP)
        if (uncounted.times > 0) {
          await noteMade(trx, link, { ...uncounted, file: null, address: null }, clock.now())
        }
      })
    }
  }
}

export function linkUsedUp(): Refusal {
  return new Refusal(
    'LINK_USED_UP',
    'This link was made for a number of downloads, and all are taken; ask the person who sent it for another one',
  )
}

/** Reads of the whole by a program without cookies: players seek back, and connections break. */
const MOST_READINGS = 4
/**
 * Wholes promised to such a program while something is missing: what was sent, a beginning that it is about
 * to abort, and its ranges.
 */
const MOST_WHILE_MISSING = 3
/**
 * Wholes promised, including ended transfers. Makes up for bytes lost when a connection broke; less than half
 * a whole more, so no second download.
 */
const MOST_ENDED = 1.5

type Belonging = 'more' | 'again'

/**
 * How a request belongs to the claim; null for a new download. `promised`: in millionths. A visitor with the
 * cookie reads without limit. A program's claim covers one file or zip.
 */
function belonging(
  { sent, running, bytes }: Pick<LinkSlot, 'sent' | 'running' | 'bytes'>,
  { program, isAssumed }: LinkDownloader,
  { start, whole }: PromisedBytes,
  promised: number,
): Belonging | null {
  if (program === null) return 'more'
  const all = sent + promised
  if (!isAssumed) return all <= MOST_READINGS * WHOLE ? 'more' : null
  // A restart at byte 0 only after an interruption, and once: it counts as sent afterwards.
  if (start === 0) return running === 0 && sent < WHOLE ? 'again' : null
  const isMissing = bytes < whole
  const ended = isMissing ? Math.floor((bytes / whole) * WHOLE) + promised : all
  return ended < MOST_ENDED * WHOLE && all < MOST_WHILE_MISSING * WHOLE ? 'more' : null
}

/** Serializes work by key, so that a busy link holds one connection to the database. */
class KeyedMutex<Key> {
  readonly #last = new Map<Key, Promise<void>>()

  run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const over = result.then(
      () => {},
      () => {},
    )
    this.#last.set(key, over)
    over.then(() => {
      if (this.#last.get(key) === over) this.#last.delete(key)
    })
    return result
  }

  async idle(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}

interface EndedDownload extends LinkDownload {
  readonly endedAt: number
}

interface Unwritten {
  readonly link: OwnedLink
  /** Downloads begun, less those that ended too early. */
  count: number
  readonly over: EndedDownload[]
}

/** Notified singly, of the downloads of a link that ended within a second. */
const MOST_ALONE = 20

/** Downloads of links without a limit. */
function createLinkCounts(db: Database, clock: Clock) {
  const unwritten = new Map<LinkId, Unwritten>()

  function of(link: OwnedLink): Unwritten {
    const present = unwritten.get(link.id)
    if (present !== undefined) return present
    const made: Unwritten = { link: { id: link.id, account: link.account }, count: 0, over: [] }
    unwritten.set(link.id, made)
    return made
  }

  function write({ link, count, over }: Unwritten): Promise<void> {
    return inTransaction(db, async (trx) => {
      if (over.length > 0) await lockOwner(trx, link.account)
      await addDownloads(trx, link.id, count)
      for (const download of over) await noteDownload(trx, link, download, clock.now())
    })
  }

  return {
    /** Counts a download from byte 0, unless less than half of it was sent, and notifies at its end. */
    of: (link: OwnedLink, what: DownloadedBytes): ByteSlots => ({
      async begin({ start, end, whole }) {
        if (start === 0) of(link).count += 1
        return {
          end(unsent) {
            if (start > 0) return
            if (unsent * 2 > whole) of(link).count -= 1
            else addTo(of(link).over, { times: 1, bytes: end - unsent, endedAt: clock.now(), ...what })
          },
        }
      },
    }),

    /** Writes the counts. Those that could not be written are kept for the next flush. */
    async flush(): Promise<void> {
      const all = [...unwritten.values()].sort((a, b) => a.link.id - b.link.id)
      unwritten.clear()
      for (const [at, each] of all.entries()) {
        try {
          await write(each)
        } catch (error) {
          for (const left of all.slice(at)) {
            const present = of(left.link)
            present.count += left.count
            for (const download of left.over) addTo(present.over, download)
          }
          throw error
        }
      }
    },
  }
}

/** Beyond the first ones only sums are kept, in one more entry. */
function addTo(over: EndedDownload[], download: EndedDownload): void {
  if (over.length < MOST_ALONE) {
    over.push(download)
    return
  }
  const rest = over[MOST_ALONE] ?? { times: 0, bytes: 0 }
  const [times, bytes] = [rest.times + download.times, rest.bytes + download.bytes]
  over[MOST_ALONE] = { times, bytes, endedAt: download.endedAt, file: null, address: null }
}

export interface DownloadedBytes {
  readonly file: EventFile<FileId> | null
  readonly address: string | null
}

export interface PromisedBytes {
  readonly start: number
  /** Exclusive. */
  readonly end: number
  readonly whole: number
}

export interface ByteSlots {
  /** Call before the first byte. Throws Refusal LINK_USED_UP when the visitor gets no slot. */
  begin(promised: PromisedBytes): Promise<RunningClaim>
}

export interface RunningClaim {
  /** `unsent`: promised bytes that were not sent. Never throws. */
  end(unsent: number): void
}
