/** Adopts as the mirror an empty place, or the mirror of the installation that this one was restored or moved from. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Database } from '../database/database.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { BlobId, BlobKey } from '../domain/ids.ts'
import { openRows } from '../storage.ts'
import { addListed, listedAmong, makeListed } from './copied.rows.ts'
import { type Copied, type MirroredContent, mirroredAfter, queueKeys } from './mirror.rows.ts'
import { type MirrorParts, takeOverMirror } from './mirror-place.ts'
import { makeScratch } from './scratch.ts'

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

async function addUnfinished(listed: Database, store: BlobStore): Promise<void> {
  const keys: BlobKey[] = []
  const add = () =>
    addListed(
      listed,
      keys.splice(0).map((key) => ({ key, size: null })),
    )
  for await (const key of store.list()) if (keys.push(key) === BATCH) await add()
  await add()
}

/** Compares rows with the store's list. Memory use is independent of the number. */
async function reconcile(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  store: BlobStore,
): Promise<Omit<Adopted, 'authenticated'>> {
  const scratch = await makeScratch()
  const listed = openRows(join(scratch, 'listed.sqlite'))
  try {
    await makeListed(listed, store.listSizes())
    await addUnfinished(listed, store)
    let [kept, missing, unknown] = [0, 0, 0]
    let last: BlobId | null = null
    for (;;) {
      const contents: MirroredContent[] = await mirroredAfter(db, { after: last }, BATCH)
      last = contents.at(-1)?.id ?? null
      if (last === null) break
      const found = await listedAmong(
        listed,
        contents.map(({ mirroredKey }) => mirroredKey),
      )
      const whole = contents.filter(({ mirroredKey, size }) => (found.get(mirroredKey) ?? size) === size)
      const there = new Set(whole.map(({ mirroredKey }) => mirroredKey).filter((key) => found.has(key)))
      const gone = contents
        .filter(({ mirroredKey }) => !there.has(mirroredKey))
        .map(({ id, mirroredKey: key }) => ({ id, key }))
      await dropCopies(db, gone)
      await dropListed(listed, [...there])
      kept += there.size
      missing += gone.length
    }
    for (;;) {
      const keys = await restOfListed(listed, BATCH)
      if (keys.length === 0) break
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

type WithListed = { listed_blobs: { key: BlobKey } }

async function dropListed(listed: Database, keys: readonly BlobKey[]): Promise<void> {
  if (keys.length === 0) return
  await listed.withTables<WithListed>().deleteFrom('listed_blobs').where('key', 'in', keys).execute()
}

async function restOfListed(listed: Database, limit: number): Promise<BlobKey[]> {
  const rows = await listed
    .withTables<WithListed>()
    .selectFrom('listed_blobs')
    .select('key')
    .limit(limit)
    .execute()
  return rows.map(({ key }) => key)
}

/** Keeps copies recorded meanwhile. */
async function dropCopies(db: Database, copies: readonly Copied[]): Promise<void> {
  if (copies.length === 0) return
  const [ids, keys] = [copies.map(({ id }) => id), copies.map(({ key }) => key)]
  await sql`update blobs set mirrored_key = null
    where id in (${sql.join(ids)}) and mirrored_key in (${sql.join(keys)})`.execute(db)
}
