/** Invariants of an installation with nothing under way, after any faults. */

import { wrongSums } from '../../../src/contents/sums.ts'
import type { Database } from '../../../src/database/database.ts'
import { wholeSum } from '../../../src/database/differences.ts'
import { eventually } from '../eventually.ts'
import type { SharedInstallation } from '../servers/shared-installation.ts'
import { keysOf } from './blob-chunks.ts'

/**
 * Seconds: a node ends the reservations that an outage has left behind every few seconds; a busy machine
 * takes longer.
 */
const GIVEN_BACK_WITHIN = 90

/** Waits until nodes have released the reservations of uploads that failed during an outage. */
export function roomGivenBack({ database }: SharedInstallation): Promise<void> {
  const isGivenBack = async () =>
    (await database.selectFrom('reservations').select('key').limit(1).executeTakeFirst()) === undefined
  return eventually('the room of failed uploads is given back', isGivenBack, GIVEN_BACK_WITHIN)
}

/** Inconsistent totals of accounts and bins, one line each. Nothing may be under way. */
export async function unsoundTotals(db: Database): Promise<string[]> {
  const wrong: string[] = []
  const same = (what: string, is: unknown, shouldBe: unknown) => {
    if (!Bun.deepEquals(is, shouldBe)) wrong.push(`${what}: ${Bun.inspect(is)}, not ${Bun.inspect(shouldBe)}`)
  }
  for (const account of await db.selectFrom('accounts').selectAll().execute()) {
    const sums = async (removal: readonly ('binned' | 'folder binned')[]) => {
      const files = db
        .selectFrom('files')
        .select((row) => [wholeSum(db, 'size').as('bytes'), row.fn.countAll<number>().as('files')])
        .where('account_id', '=', account.id)
      const some =
        removal.length === 0 ? files.where('removed_at', 'is', null) : files.where('removal', 'in', removal)
      return some.executeTakeFirstOrThrow()
    }
    const live = await sums([])
    const binned = await sums(['binned', 'folder binned'])
    const entries = await db
      .selectFrom('bin')
      .select((row) => [
        wholeSum(db, 'bytes').as('bytes'),
        wholeSum(db, 'files').as('files'),
        row.fn.countAll<number>().as('entries'),
      ])
      .where('account_id', '=', account.id)
      .executeTakeFirstOrThrow()
    const top = await db
      .selectFrom('folders')
      .select(['tree_files', 'tree_bytes'])
      .where('account_id', '=', account.id)
      .where('parent_id', 'is', null)
      .executeTakeFirst()
    const { username } = account
    same(`storage used of ${username}`, account.storage_used, live.bytes + binned.bytes)
    same(`storage reserved of ${username}`, account.storage_reserved, 0)
    same(`files counted of ${username}`, account.files_count, live.files)
    same(`tree of ${username}`, top ?? { tree_files: 0, tree_bytes: 0 }, {
      tree_files: live.files,
      tree_bytes: live.bytes,
    })
    const { bin_bytes, bin_entries } = account
    const bin = { bytes: bin_bytes, entries: bin_entries, files: binned.files, stored: binned.bytes }
    same(`bin of ${username}`, bin, { ...entries, stored: entries.bytes })
  }
  for await (const { lines } of wrongSums(db)) wrong.push(...lines)
  return wrong
}

/**
 * Inconsistent totals, rows and blobs, one line each. Nothing may be under way, and the jobs must have run.
 */
export async function unsoundness(installation: SharedInstallation): Promise<string[]> {
  const db = installation.database
  const store = await installation.store()
  const wrong = await unsoundTotals(db)
  const same = (what: string, is: unknown, shouldBe: unknown) => {
    if (!Bun.deepEquals(is, shouldBe)) wrong.push(`${what}: ${Bun.inspect(is)}, not ${Bun.inspect(shouldBe)}`)
  }
  const reservations = await db.selectFrom('reservations').select('key').execute()
  same('reservations', reservations, [])
  const uploads = await db.selectFrom('uploads').select('slug').where('ended_at', 'is', null).execute()
  same('resumable uploads', uploads, [])
  const garbage = await db.selectFrom('blob_garbage').select('key').execute()
  same('garbage', garbage, [])
  const blobs = await db
    .selectFrom('blobs')
    .select(['key', 'size', 'refs'])
    .select((row) =>
      row
        .selectFrom('files')
        .select(row.fn.countAll<number>().as('users'))
        .whereRef('files.blob_id', '=', 'blobs.id')
        .as('users'),
    )
    .execute()
  const stored: string[] = await keysOf(store)
  const thumbnails = await db.selectFrom('thumbnails').select('key').where('key', 'is not', null).execute()
  same('keys in the store', stored.sort(), [...blobs, ...thumbnails].map(({ key }) => String(key)).sort())
  for (const { key, size, refs, users } of blobs) {
    same(`references to ${key}`, refs, users)
    same(`size of ${key}`, await store.size(key), size)
  }
  return wrong
}
