/**
 * The store of the mirror. It carries the mark of the pair of database and store that it belongs to, so that a foreign place,
 * or a folder that is not mounted, is neither filled nor cleared: a pair that was restored or relocated has another mark.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type BlobStore, type MarkCopy, StoreFailure } from '../../blobs/blob-store.ts'
import type { StorePlace } from '../../config/setting-groups.ts'
import { metaOf, metaValue, setMeta } from '../../core/meta.rows.ts'
import { pairMeta } from '../../core/store/pairing.ts'
import type { Database, Trx } from '../../database/database.ts'
import { forUpdate } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Random } from '../../domain/random.ts'
import { openPlace } from '../../storage.ts'
import { COPIES } from '../backup/catalog-copies.ts'
import { holdsOtherThings, inSettingsOf, placeName } from '../store-places.ts'
import { mirroredAfter } from './mirror.rows.ts'

/** Key in `meta`: since when the database has its present mirror, in milliseconds. */
const ATTACHED = 'mirror_attached'

/** The mirror cannot be used now: to jobs an outage, which is no failure of theirs. */
export class MirrorUnusable extends StoreFailure {
  override readonly name = 'MirrorUnusable'

  constructor(message: string, options?: ErrorOptions) {
    super('away', options)
    this.message = message
  }
}

export interface MirrorParts {
  readonly db: Database
  readonly clock: Clock
  readonly random: Random
  readonly place: StorePlace
}

export interface Mirror {
  readonly store: BlobStore
  /** Throws MirrorUnusable where the place, which may have been unmounted since, is not this mirror any more. */
  assertOwn(): Promise<void>
  /** Throws MirrorUnusable where the database has taken another mirror since, and holds that off until the transaction ends. */
  assertAttached(trx: Trx): Promise<void>
}

/** Null where the database never had one. */
export async function attachedAt(db: Database): Promise<number | null> {
  const since = await metaOf(db, ATTACHED)
  return since === null ? null : Number(since)
}

/**
 * Opens the mirror, and takes an empty place for a new one where no content has a copy yet. Throws MirrorUnusable where it
 * cannot be reached, or is not the database's own.
 */
export async function openMirror({ db, place, clock, random }: MirrorParts): Promise<Mirror> {
  const attached = await metaValue(db, ATTACHED, () => String(clock.now()))
  const mark = await ownMark(db, attached)
  // Looked at before the store makes its folders there.
  if (place.kind === 'folder' && !COPIES.some((copy) => existsSync(join(place.path, copy)))) {
    await assertNoCopies(db, place)
  }
  const store = await opened(place, random)
  const present = await markOf(store, place)
  if (present === null) {
    await assertNoCopies(db, place)
    await assertEmpty(store, place)
    await writeMarks(store, mark)
  } else if (present.text !== mark) throw foreign(place)
  else if (!present.isTwice) await writeMarks(store, mark)
  return {
    store,
    async assertOwn() {
      const now = await markOf(store, place)
      if (now === null) throw lost(place)
      if (now.text !== mark) throw foreign(place)
    },
    async assertAttached(trx) {
      const held = trx.selectFrom('meta').select('value').where('key', '=', ATTACHED)
      const now = await held.modifyEnd(forUpdate(trx)).executeTakeFirst()
      if (now?.value !== attached) throw foreign(place)
    },
  }
}

/**
 * Takes the place for this database's mirror, whichever pair it belonged to before. `reconcile` is called when nobody notes
 * copies any more, and before the place counts as the mirror; after a kill it has to be taken over again. Throws
 * MirrorUnusable for a place that holds anything but a mirror.
 */
export async function takeOverMirror(
  { db, clock, random, place }: MirrorParts,
  reconcile: (store: BlobStore) => Promise<void>,
): Promise<void> {
  const attached = String(clock.now())
  const mark = await ownMark(db, attached)
  const store = await opened(place, random)
  const present = await markOf(store, place)
  if (present === null) await assertEmpty(store, place)
  else if (!present.text.startsWith(PREFIX)) throw foreign(place)
  await inTransaction(db, (trx) => setMeta(trx, ATTACHED, attached))
  await reconcile(store)
  await writeMarks(store, mark)
}

async function assertNoCopies(db: Database, place: StorePlace): Promise<void> {
  if ((await mirroredAfter(db, { after: null }, 1)).length > 0) throw lost(place)
}

const PREFIX = 'mirror of '

/** Names the time too, so that a former mirror of the same pair, which lacks copies that are noted, is not taken for the present one. */
async function ownMark(db: Database, attached: string): Promise<string> {
  const mark = await metaOf(db, pairMeta.mark)
  if (mark === null) throw new MirrorUnusable('no server has run on this database yet')
  const text = `${PREFIX}${mark} since ${attached}`
  return `${text} ${sumOf(text)}`
}

async function opened(place: StorePlace, random: Random): Promise<BlobStore> {
  try {
    if (place.kind === 's3' || !(await holdsOtherThings(place.path))) return await openPlace(place, random)
  } catch (error) {
    throw unreachable(place, error)
  }
  throw occupied(place)
}

const sumOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

function isSound(text: string | null): text is string {
  const end = text?.lastIndexOf(' ') ?? -1
  return text?.startsWith(PREFIX) === true && text.slice(end + 1) === sumOf(text.slice(0, end))
}

/** The mark that the place carries twice: the first sound copy counts, or whatever is there. Null where there is none. */
async function markOf(
  store: BlobStore,
  place: StorePlace,
): Promise<{ readonly text: string; readonly isTwice: boolean } | null> {
  const read = (copy: MarkCopy) =>
    store.readMark(copy).catch((error: unknown) => {
      // One object that cannot be read is one copy less.
      if (error instanceof StoreFailure && error.reason === 'broken') return DAMAGED
      throw unreachable(place, error)
    })
  const [first, second] = [await read('mark'), await read('mark-copy')]
  const text = [first, second].find(isSound) ?? first ?? second
  return text === null ? null : { text, isTwice: first === second }
}

const DAMAGED = 'damaged'

/** The first one is never older than the second: of another mirror both say so as soon as one does. */
async function writeMarks(store: BlobStore, mark: string): Promise<void> {
  for (const copy of COPIES) await store.writeMark(mark, copy)
}

function unreachable(place: StorePlace, cause: unknown): MirrorUnusable {
  const reason = inSettingsOf('mirror', cause instanceof Error ? cause.message : String(cause))
  return new MirrorUnusable(`the mirror ${placeName(place)} cannot be reached: ${reason}`, { cause })
}

function lost(place: StorePlace): MirrorUnusable {
  return new MirrorUnusable(
    `there is no mirror in ${placeName(place)}; is it mounted? "holdfast mirror --adopt" begins a new one there`,
  )
}

function foreign(place: StorePlace): MirrorUnusable {
  return new MirrorUnusable(
    `${placeName(place)} is not the mirror of this installation; after a restore or a relocation "holdfast mirror --adopt" takes it over`,
  )
}

function occupied(place: StorePlace): MirrorUnusable {
  return new MirrorUnusable(
    `there are other things in ${placeName(place)}; name an empty place for the mirror`,
  )
}

async function assertEmpty(store: BlobStore, place: StorePlace): Promise<void> {
  for await (const _ of store.list()) throw occupied(place)
}
