/** Files that are stored with one round trip, several of an account in one transaction: for PostgreSQL only. */
import { describe, expect, test } from 'bun:test'
import { insertAccount, topFolder } from '../../src/core/accounts.rows.ts'
import { openInPlace, openReservation } from '../../src/core/reservations.rows.ts'
import { isUniqueViolation } from '../../src/database/differences.ts'
import { openPostgres } from '../../src/database/postgres.ts'
import { inTransaction } from '../../src/database/transactions.ts'
import type { AccountId, BlobKey, FolderId, FolderPlace, NodeId, Sha256 } from '../../src/domain/ids.ts'
import {
  makeBlobKey,
  makeFolderIdentifier,
  makeSlug,
  makeUuid,
  systemRandom,
} from '../../src/domain/random.ts'
import { CommitBatcher } from '../../src/uploads/commit.ts'
import { findKeyUse, insertKeyUse } from '../../src/uploads/idempotency-keys.rows.ts'
import type { NewRows } from '../../src/uploads/stored-files.rows.ts'
import { sha256 } from '../support/clients/caller.ts'
import { createMigratedDatabase } from '../support/databases/migrated-database.ts'
import { whyNoPostgres } from '../support/databases/postgres.ts'
import { NOWHERE } from '../support/node-place.ts'
import { reportNotRun } from '../support/processes/not-run.ts'
import { unsoundTotals } from '../support/storage/soundness.ts'

const obstacle = whyNoPostgres()
if (obstacle !== null) reportNotRun('files that are stored at once', obstacle)

const SIZE = 7
/** What is said of the room for one file, which is reserved still. */
const ONE_RESERVED = `storage reserved of alice: ${SIZE}, not 0`

async function opened() {
  const { url, drop } = await createMigratedDatabase()
  const db = openPostgres(url, { connections: 8, durable: true, report: () => {} })
  const { pipeline } = db
  if (pipeline === null) throw new Error('PostgreSQL has a pipeline')
  const node = 'test' as NodeId
  await db
    .insertInto('nodes')
    .values({ id: node, started_at: 0, ...NOWHERE })
    .execute()
  const account = await inTransaction(db, (trx) =>
    insertAccount(trx, systemRandom, { username: 'alice', created_at: 0 }),
  )
  const folder = await topFolder(db, account)
  let transactions = 0
  const storing = new CommitBatcher(db, (...statements) => {
    transactions++
    return pipeline(...statements)
  })

  /** A file with a content of its own and a reservation. */
  async function reserved(content: string = crypto.randomUUID()): Promise<NewRows> {
    const key = makeBlobKey(systemRandom)
    await openReservation(db, { key, account_id: account, bytes: SIZE, created_at: 0, node }, 1e9)
    return described(key, content)
  }

  /** One whose reservation is there and holds nothing. Null when it was not opened. */
  async function looked(place: FolderPlace, storageLimit: number): Promise<NewRows | null> {
    const key = makeBlobKey(systemRandom)
    const reservation = { key, account_id: account, bytes: SIZE, created_at: 0, node }
    const found = await openInPlace(db, reservation, storageLimit, place)
    if (found === null) return null
    const rows = described(key, crypto.randomUUID())
    return { ...rows, file: { ...rows.file, folder_id: found }, storageLimit }
  }

  function described(key: BlobKey, content: string): NewRows {
    const file = {
      uuid: makeUuid(systemRandom),
      slug: makeSlug(systemRandom),
      account_id: account,
      folder_id: folder,
      name: 'a.txt',
      name_folded: 'a.txt',
      size: SIZE,
      type: 'text/plain',
      created_at: 1,
      last_used_at: 1,
    }
    const digest = { sha256: sha256(new TextEncoder().encode(content)) as Sha256, crc32: 0 }
    const blob = { key, ...digest, size: SIZE, created_at: 1 }
    return {
      file,
      blob,
      thumbnail: { state: 'none', turn: account },
      garbageDueAt: 5,
      storageLimit: 1e9,
      note: null,
    }
  }

  const found = async () => ({
    files: (await db.selectFrom('files').select('id').execute()).length,
    reservations: (await db.selectFrom('reservations').select('key').execute()).length,
    unsound: await unsoundTotals(db),
  })

  return {
    db,
    storing,
    folder,
    account,
    reserved,
    looked,
    found,
    transactions: () => transactions,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await drop()
    },
  }
}

describe.if(obstacle === null)('files that are stored at once', () => {
  test('are counted, and their reservations end, in few transactions', async () => {
    await using it = await opened()
    const rows = await Promise.all(Array.from({ length: 30 }, () => it.reserved()))
    const results = await Promise.all(rows.map((one) => it.storing.store(one)))
    expect(new Set(results.map(({ id }) => id)).size).toBe(30)
    expect(it.transactions()).toBeLessThan(15)
    expect(await it.found()).toEqual({ files: 30, reservations: 0, unsound: [] })
  })

  test('are stored though one among them cannot be', async () => {
    await using it = await opened()
    const rows = await Promise.all(Array.from({ length: 6 }, () => it.reserved()))
    const [first, ...others] = rows
    if (first === undefined) throw new Error('there are six')
    const twin = await it.reserved()
    const taken = { ...twin, file: { ...twin.file, slug: first.file.slug } }
    const ends = await Promise.allSettled([first, taken, ...others].map((one) => it.storing.store(one)))
    const failed = ends.filter((end) => end.status === 'rejected')
    expect(failed.map(({ reason }) => isUniqueViolation(reason))).toEqual([true])
    expect(await it.found()).toEqual({ files: 6, reservations: 1, unsound: [ONE_RESERVED] })
  })

  test('share the blob of one content, and the older copy becomes garbage', async () => {
    await using it = await opened()
    const [first, second] = [await it.reserved('same'), await it.reserved('same')]
    await it.storing.store(first)
    await it.storing.store(second)
    const blobs = await it.db.selectFrom('blobs').select(['key', 'refs']).execute()
    expect(blobs).toEqual([{ key: second.blob.key, refs: 2 }])
    const garbage = await it.db.selectFrom('blob_garbage').select(['key', 'due_at']).execute()
    expect(garbage).toEqual([{ key: first.blob.key, due_at: 5 }])
    expect(await it.found()).toEqual({ files: 2, reservations: 0, unsound: [] })
  })

  test('are not stored without their reservation', async () => {
    await using it = await opened()
    const rows = await it.reserved()
    const stranger = { ...rows, blob: { ...rows.blob, key: 'b'.repeat(rows.blob.key.length) as BlobKey } }
    expect(await it.storing.store(stranger)).toEqual({
      id: null,
      isFolderGone: false,
      isRefused: false,
      isFull: false,
    })
    expect(await it.found()).toEqual({ files: 0, reservations: 1, unsound: [ONE_RESERVED] })
  })

  test('are not stored in a deleted folder, nor when their content is blocked; the reservation stays', async () => {
    await using it = await opened()
    const [one, other] = [await it.reserved(), await it.reserved()]
    await it.db.insertInto('refused_contents').values({ sha256: other.blob.sha256, refused_at: 0 }).execute()
    expect(await it.storing.store(other)).toEqual({
      id: null,
      isFolderGone: false,
      isRefused: true,
      isFull: false,
    })
    await it.db.updateTable('folders').set({ deleted_at: 1 }).where('id', '=', it.folder).execute()
    expect(await it.storing.store(one)).toEqual({
      id: null,
      isFolderGone: true,
      isRefused: false,
      isFull: false,
    })
    expect(await it.found()).toMatchObject({ files: 0, reservations: 2 })
  })

  test('are stored as far as there is space, where nothing was reserved for them', async () => {
    await using it = await opened()
    const rows = await Promise.all(Array.from({ length: 6 }, () => it.looked('root', 3 * SIZE)))
    const results = await Promise.all(rows.flatMap((one) => (one === null ? [] : it.storing.store(one))))
    expect(results.filter(({ id }) => id !== null)).toHaveLength(3)
    const full = { id: null, isFolderGone: false, isRefused: false, isFull: true }
    expect(results.filter(({ id }) => id === null)).toEqual([full, full, full])
    expect(await it.found()).toEqual({ files: 3, reservations: 3, unsound: [] })
    expect(await it.looked('root', 3 * SIZE)).toBeNull()
  })

  test('leave to others what they have reserved', async () => {
    await using it = await opened()
    const small = await it.looked('root', 2 * SIZE)
    const [large, other] = [await it.reserved(), await it.reserved()]
    if (small === null) throw new Error('there was space')
    expect(await it.storing.store(small)).toMatchObject({ id: null, isFull: true })
    for (const rows of [large, other]) expect(await it.storing.store(rows)).toMatchObject({ isFull: false })
    expect(await it.found()).toMatchObject({ files: 2, reservations: 1, unsound: [] })
  })

  test('are stored in the quota of the account rather than the limit of all', async () => {
    await using it = await opened()
    await it.db.updateTable('accounts').set({ quota: SIZE }).where('id', '=', it.account).execute()
    const [one, other] = [await it.looked('root', 0), await it.looked('root', 0)]
    if (one === null || other === null) throw new Error('there was space')
    expect(await it.storing.store(one)).toMatchObject({ isFull: false })
    expect(await it.storing.store(other)).toMatchObject({ id: null, isFull: true })
  })

  test('find their place only where it is a live folder of the account', async () => {
    await using it = await opened()
    const add = async (values: { parent_id: FolderId; account_id: AccountId }) => {
      const identifier = makeFolderIdentifier(systemRandom)
      const name = { name: identifier, name_sort: identifier }
      const folder = { identifier, ...name, is_public: 1 as const, created_at: 0, ...values }
      const { id } = await it.db
        .insertInto('folders')
        .values(folder)
        .returning('id')
        .executeTakeFirstOrThrow()
      return { id, identifier }
    }
    const stranger = await inTransaction(it.db, (trx) =>
      insertAccount(trx, systemRandom, { username: 'bob', created_at: 0 }),
    )
    const upper = await add({ parent_id: it.folder, account_id: it.account })
    const lower = await add({ parent_id: upper.id, account_id: it.account })
    const foreign = await add({ parent_id: await topFolder(it.db, stranger), account_id: stranger })
    const top = await it.db
      .selectFrom('folders')
      .select('identifier')
      .where('id', '=', it.folder)
      .executeTakeFirstOrThrow()
    expect((await it.looked(lower.identifier, 1e9))?.file.folder_id).toBe(lower.id)
    for (const { identifier } of [foreign, top]) expect(await it.looked(identifier, 1e9)).toBeNull()
    await it.db.updateTable('folders').set({ deleted_at: 1 }).where('id', '=', upper.id).execute()
    expect(await it.looked(lower.identifier, 1e9)).toBeNull()
    expect(await it.found()).toMatchObject({ reservations: 1 })
  })

  test('note what the request led to, if the key is still of the node', async () => {
    await using it = await opened()
    const node = 'test' as NodeId
    const key = { caller: 'ann', hash: 'a'.repeat(64) as Sha256 }
    await insertKeyUse(it.db, key, { created_at: 0, node })
    const note = {
      ...key,
      node,
      around: (file: { readonly slug: string }) => ({ before: '{"id":', after: `,"slug":"${file.slug}"}` }),
    }
    const [stored, late] = [await it.reserved(), await it.reserved()]
    const { id } = await it.storing.store({ ...stored, note })
    const noted = await findKeyUse(it.db, key)
    expect(noted).toMatchObject({ node: null, result: `{"id":${id},"slug":"${stored.file.slug}"}` })
    expect(await it.storing.store({ ...late, note })).toMatchObject({ id: null })
    expect(await findKeyUse(it.db, key)).toEqual(noted)
    expect(await it.found()).toMatchObject({ files: 1, reservations: 1 })
  })
})
