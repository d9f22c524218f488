/** Adopts as the mirror an empty place, or the mirror of the installation that this one was restored or moved from. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Database } from '../database/database.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { openRows } from '../storage.ts'
import { dropListed, listedAmong, listedKeys, makeListed } from './copied.rows.ts'
import { noteListed } from './copying.ts'
import { type Copied, type MirroredContent, mirroredAfter, queueKeys } from './mirror.rows.ts'
import { type MirrorParts, takeOverMirror } from './mirror-place.ts'
import { makeScratch } from './scratch.ts'
import { inBatches } from './walk.ts'

const BATCH = 500

export interface Adopted {
  /** `unknown`: without a row, removed a day later. */
  readonly kept: number
  readonly missing: number
  readonly unknown: number
  /** Authentic, so of this installation or one it was restored from; null for an empty place. */
  readonly authenticated: boolean | null
}

/** Throws MirrorUnusable for a place that holds anything but a mirror. */
export async function adoptMirror(parts: MirrorParts): Promise<Adopted> {
  let found = { kept: 0, missing: 0, unknown: 0 }
  const authenticated = await takeOverMirror(parts, async (store) => {
    found = await reconcile(parts, store)
  })
  return { ...found, authenticated }
}

/** Compares rows with the store's list. Memory use is independent of the number. */
async function reconcile(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  store: BlobStore,
): Promise<Omit<Adopted, 'authenticated'>> {
  const scratch = await makeScratch()
  const listed = openRows(join(scratch, 'listed.sqlite'))
  try {
    await makeListed(listed)
    await noteListed(listed, store.listSizes())
    let [kept, missing, unknown] = [0, 0, 0]
    const read = (last: MirroredContent | null) => mirroredAfter(db, { after: last?.id ?? null }, BATCH)
    for await (const contents of inBatches(read)) {
      const found = await listedAmong(
        listed,
        contents.map(({ mirroredKey }) => mirroredKey),
      )
      const isThere = ({ mirroredKey: key, size }: MirroredContent) => found.get(key) === size
      const there = contents.filter(isThere).map(({ mirroredKey }) => mirroredKey)
      const gone = contents
        .filter((content) => !isThere(content))
        .map(({ id, mirroredKey: key }) => ({ id, key }))
      await dropCopies(db, gone)
      await dropListed(listed, there)
      kept += there.length
      missing += gone.length
    }
    // Each batch is dropped before the next is read.
    for await (const keys of inBatches(() => listedKeys(listed, BATCH))) {
      await queueKeys(db, keys, clock.now() + DAY)
      await dropListed(listed, keys)
      unknown += keys.length
    }
    return { kept, missing, unknown }
  } finally {
    await listed.destroy()
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Keeps copies recorded meanwhile. */
async function dropCopies(db: Database, copies: readonly Copied[]): Promise<void> {
  if (copies.length === 0) return
  const [ids, keys] = [copies.map(({ id }) => id), copies.map(({ key }) => key)]
  await sql`update blobs set mirrored_key = null
    where id in (${sql.join(ids)}) and mirrored_key in (${sql.join(keys)})`.execute(db)
}
