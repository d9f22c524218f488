/** Compares what the database promises with the bytes in the store, beside running servers. Changes nothing. */
import { BlobMissing, type BlobStore } from '../../blobs/blob-store.ts'
import { assertPaired } from '../../core/store/pairing.ts'
import type { Database } from '../../database/database.ts'
import { missingMigrations } from '../../database/migrate.ts'
import type { Damage } from '../../database/schema.ts'
import { Refusal } from '../../domain/errors.ts'
import type { BlobId, BlobKey } from '../../domain/ids.ts'
import { connect, databaseExists, openBlobs, type StorageOptions } from '../../storage.ts'
import { type ContentRow, contentsAfter, contentTotals, filesWith, findContent } from './integrity.rows.ts'
import { findOrphans } from './orphans.ts'
import { readDamage } from './reading.ts'
import { wrongSums } from './sums.ts'

/** How much of the bytes is read and hashed: a share of all contents, or about that many bytes. */
export type ReadData =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'share'; readonly share: number }
  | { readonly kind: 'bytes'; readonly bytes: number }

export interface Damaged {
  readonly slug: string
  readonly name: string
  readonly owner: string
  readonly reason: Damage
  /** Key of the content in the store. */
  readonly key: string
}

export interface CheckResult {
  readonly checkedContents: number
  readonly checkedFiles: number
  /** Bytes that were read and hashed. */
  readonly checkedBytes: number
  readonly damaged: readonly Damaged[]
  /** Keys in the store that no row refers to. */
  readonly orphans: readonly BlobKey[]
  /** What does not add up, a line each. */
  readonly sums: readonly string[]
}

export interface Progress {
  readonly contents: number
  readonly of: number
  readonly bytesRead: number
}

export interface Check extends StorageOptions {
  readonly readData: ReadData
  readonly tell: (progress: Progress) => void
}

const BATCH = 200
/** Contents that are looked at side by side, and those that are read. */
const SIDE_BY_SIDE = 16
const READ_SIDE_BY_SIDE = 2
/** Files that are named for one damaged content. */
const MOST_NAMED = 1000

/** Throws Refusal PRECONDITION_FAILED where there is no database of this version, and WrongStore. */
export async function checkInstallation(check: Check): Promise<CheckResult> {
  const { config, random } = check
  if (!databaseExists(config)) throw refused(`there is no Holdfast data in ${config.dataDir}`)
  const storage = { ...check, report() {} }
  const { db, close } = await connect(storage)
  try {
    if ((await missingMigrations(db)) > 0) {
      throw refused('the database is not of this program\'s version; "holdfast migrate" brings it there')
    }
    const blobs = await openBlobs(storage, false)
    await assertPaired(db, blobs, random)
    const contents = await checkContents(db, blobs, check)
    const orphans = await findOrphans(db, blobs)
    return { ...contents, orphans, sums: [...contents.sums, ...(await wrongSums(db))] }
  } finally {
    await close()
  }
}

function refused(message: string): Refusal {
  return new Refusal('PRECONDITION_FAILED', message)
}

async function checkContents(db: Database, blobs: BlobStore, { readData, random, tell }: Check) {
  const totals = await contentTotals(db)
  const share = shareOf(readData, totals.bytes)
  const damaged: Damaged[] = []
  const sums: string[] = []
  let [contents, files, bytesRead] = [0, 0, 0]
  let last: BlobId | null = null
  for (;;) {
    const batch: ContentRow[] = await contentsAfter(db, last, BATCH)
    const found = batch.at(-1)
    if (found === undefined) break
    last = found.id
    const chosen = batch.filter(() => isChosen(random(4), share))
    const wrong = await wrongOnes(db, blobs, batch, chosen)
    sums.push(...(await wrongReferences(db, batch)))
    for (const { content, reason } of wrong) damaged.push(...(await damagedFiles(db, content, reason)))
    contents += batch.length
    files += batch.reduce((sum, row) => sum + row.files, 0)
    bytesRead += chosen.reduce((sum, { size }) => sum + size, 0)
    tell({ contents, of: totals.contents, bytesRead })
  }
  return { checkedContents: contents, checkedFiles: files, checkedBytes: bytesRead, damaged, sums }
}

/** Contents whose references are counted wrong, at two looks. */
async function wrongReferences(db: Database, batch: readonly ContentRow[]): Promise<string[]> {
  const wrong: string[] = []
  for (const { id } of batch.filter(({ refs, files }) => refs !== files)) {
    const now = await findContent(db, id)
    if (now === undefined || now.refs === now.files) continue
    wrong.push(`content ${now.key}: ${now.refs} references are counted, ${now.files} files refer to it`)
  }
  return wrong
}

function shareOf(readData: ReadData, all: number): number {
  if (readData.kind === 'nothing') return 0
  if (readData.kind === 'share') return readData.share
  return all === 0 ? 1 : Math.min(1, readData.bytes / all)
}

/** By chance, so that each run reads others. */
function isChosen(chance: Uint8Array, share: number): boolean {
  const [a = 0, b = 0, c = 0, d = 0] = chance
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32 < share
}

interface Wrong {
  readonly content: ContentRow
  readonly reason: Damage
}

async function wrongOnes(
  db: Database,
  blobs: BlobStore,
  batch: readonly ContentRow[],
  chosen: readonly ContentRow[],
): Promise<Wrong[]> {
  const bySize = await sideBySide(batch, SIDE_BY_SIDE, (content) =>
    confirmed(db, content, (row) => sizeDamage(blobs, row)),
  )
  const known = new Set(bySize.map(({ content }) => content.id))
  const unknown = chosen.filter(({ id }) => !known.has(id))
  const byHash = await sideBySide(unknown, READ_SIDE_BY_SIDE, (content) =>
    confirmed(db, content, (row) => readDamage(blobs, row)),
  )
  return [...bySize, ...byHash]
}

/**
 * Looks a second time before it calls a content damaged, and at the row as it is then: meanwhile the content may have been
 * deleted, or uploaded again under another key.
 */
async function confirmed(
  db: Database,
  content: ContentRow,
  look: (content: ContentRow) => Promise<Damage | null>,
): Promise<Wrong | null> {
  if ((await look(content)) === null) return null
  const now = await findContent(db, content.id)
  if (now === undefined) return null
  const reason = await look(now)
  if (reason === null) return null
  const still = await findContent(db, content.id)
  return still?.key === now.key ? { content: now, reason } : null
}

async function sizeDamage(blobs: BlobStore, { key, size }: ContentRow): Promise<Damage | null> {
  try {
    const found = await blobs.size(key)
    if (found === null) return 'missing'
    return found === size ? null : 'size'
  } catch (error) {
    if (error instanceof BlobMissing) return 'missing'
    throw error
  }
}

async function damagedFiles(db: Database, { id, key }: ContentRow, reason: Damage): Promise<Damaged[]> {
  return (await filesWith(db, id, MOST_NAMED)).map((file) => ({ ...file, reason, key }))
}

/** Results of the work that are not null; at most `width` at once. */
async function sideBySide<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result | null>,
): Promise<Result[]> {
  const results: Result[] = []
  const left = items.values()
  async function run(): Promise<void> {
    for (const item of left) {
      const result = await work(item)
      if (result !== null) results.push(result)
    }
  }
  await Promise.all(Array.from({ length: width }, run))
  return results
}
