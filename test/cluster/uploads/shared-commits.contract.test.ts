/** Files that are stored at the same time, on PostgreSQL several of an account in one transaction. */
import { describe, expect, spyOn, test } from 'bun:test'
import { Client } from 'pg'
import { insertAccount, topFolder } from '../../../src/core/accounts.rows.ts'
import { insertReservation } from '../../../src/core/reservations.rows.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import type { NodeId, Sha256, Slug } from '../../../src/domain/ids.ts'
import { makeBlobKey, makeSlug, makeUuid, systemRandom } from '../../../src/domain/random.ts'
import { noThumbnails } from '../../../src/thumbnails/thumbnails.ts'
import { type Alongside, type CompleteUpload, FileCommit } from '../../../src/uploads/commit.ts'
import { findKeyUse, insertKeyUse, setKeyResult } from '../../../src/uploads/idempotency.ts'
import { sha256 } from '../../support/clients/caller.ts'
import { databases } from '../../support/databases/databases.ts'
import { NOWHERE } from '../../support/node-place.ts'
import { unsoundTotals } from '../../support/storage/soundness.ts'

const SIZE = 7
const NODE = 'test' as NodeId
/** What is said of the room for one file, which is reserved still. */
const ONE_RESERVED = `storage reserved of alice: ${SIZE}, not 0`

type Open = ReturnType<typeof databases>[number][1]

async function opened(open: Open, storageLimit = 1e9) {
  const contract = await open()
  const { db } = contract
  await db
    .insertInto('nodes')
    .values({ id: NODE, started_at: 0, ...NOWHERE })
    .execute()
  const account = await inTransaction(db, (trx) =>
    insertAccount(trx, systemRandom, { username: 'alice', created_at: 0 }),
  )
  const folder = await topFolder(db, account)
  const commits = new FileCommit({
    db,
    health: {
      assertUsable() {},
      refusalFor: (error) => error,
      probe: async () => true,
      recover: async () => {},
    },
    thumbnails: noThumbnails,
    clock: systemClock,
    random: systemRandom,
    limits: { storageLimit, guestStorage: 0 },
    uploaded() {},
  })

  function described(content: string, isCounted: boolean, slug?: Slug): CompleteUpload {
    return {
      account,
      address: null,
      folder,
      key: makeBlobKey(systemRandom),
      digest: { sha256: sha256(new TextEncoder().encode(content)) as Sha256, crc32: 0 },
      size: SIZE,
      head: new Uint8Array(),
      name: 'a.txt',
      declaredType: null,
      link: slug === undefined ? null : { slug, uuid: makeUuid(systemRandom) },
      reserved: { hasRow: true, isCounted },
    }
  }

  const insert = ({ key }: CompleteUpload, bytes: number) =>
    insertReservation(
      db,
      { key, account_id: account, bytes, created_at: 0, node: NODE, transfer: null },
      SIZE,
      storageLimit,
    )

  /** Whose bytes the account has reserved. */
  async function reserved(content: string = crypto.randomUUID(), slug?: Slug): Promise<CompleteUpload> {
    const upload = described(content, true, slug)
    expect(await insert(upload, SIZE)).toBe(true)
    return upload
  }

  /** Whose reservation holds nothing. */
  async function small(): Promise<CompleteUpload> {
    const upload = described(crypto.randomUUID(), false)
    expect(await insert(upload, 0)).toBe(true)
    return upload
  }

  const found = async () => ({
    files: (await db.selectFrom('files').select('id').execute()).length,
    reservations: (await db.selectFrom('reservations').select('key').execute()).length,
    unsound: await unsoundTotals(db),
  })

  return {
    db,
    folder,
    account,
    reserved,
    small,
    found,
    isReservable: () => insert(described('', false), 0),
    store: (upload: CompleteUpload, alongside: Alongside | null = null) =>
      commits.commit(upload, { alongside }),
    [Symbol.asyncDispose]: () => contract[Symbol.asyncDispose](),
  }
}

const codes = (ends: readonly PromiseSettledResult<unknown>[]) =>
  ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.code] : []))

describe.each(databases('files that are stored at once'))(
  'files that are stored at once on %s',
  (_, open) => {
    test('are counted, and their reservations end', async () => {
      await using it = await opened(open)
      const uploads = await Promise.all(Array.from({ length: 40 }, () => it.reserved()))
      let commits = 0
      const { query } = Client.prototype
      const counting = new Proxy(query, {
        apply(target, client, given) {
          if (given[0]?.text === 'commit') commits++
          return Reflect.apply(target, client, given)
        },
      })
      using _spy = spyOn(Client.prototype, 'query').mockImplementation(counting)
      const files = await Promise.all(uploads.map((upload) => it.store(upload)))
      expect(new Set(files.map(({ id }) => id)).size).toBe(40)
      // None on SQLite.
      expect(commits).toBeLessThan(20)
      expect(await it.found()).toEqual({ files: 40, reservations: 0, unsound: [] })
    })

    test('are stored though one among them cannot be', async () => {
      await using it = await opened(open)
      const first = await it.store(await it.reserved())
      const uploads = await Promise.all(Array.from({ length: 6 }, () => it.reserved()))
      const twin = await it.reserved(crypto.randomUUID(), first.slug)
      const ends = await Promise.allSettled([twin, ...uploads].map((upload) => it.store(upload)))
      expect(codes(ends)).toEqual([expect.stringMatching(/^(23505|SQLITE_CONSTRAINT_UNIQUE)$/)])
      expect(await it.found()).toEqual({ files: 7, reservations: 1, unsound: [ONE_RESERVED] })
    })

    test('share the blob of one content, and the older copies become garbage', async () => {
      await using it = await opened(open)
      const uploads = await Promise.all(Array.from({ length: 4 }, () => it.reserved('same')))
      await Promise.all(uploads.map((upload) => it.store(upload)))
      const blobs = await it.db.selectFrom('blobs').select(['key', 'refs']).execute()
      expect(blobs).toEqual([{ key: expect.any(String), refs: 4 }])
      const garbage = await it.db.selectFrom('blob_garbage').select('key').execute()
      const keys = [...blobs, ...garbage].map(({ key }) => key)
      expect(keys.sort()).toEqual(uploads.map(({ key }) => key).sort())
      expect(await it.found()).toEqual({ files: 4, reservations: 0, unsound: [] })
    })

    test('are not stored without their reservation', async () => {
      await using it = await opened(open)
      const upload = await it.reserved()
      const stranger = { ...upload, key: makeBlobKey(systemRandom) }
      await expect(it.store(stranger)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
      expect(await it.found()).toEqual({ files: 0, reservations: 1, unsound: [ONE_RESERVED] })
    })

    test('are not stored in a deleted folder, nor when their content is blocked; the reservation stays', async () => {
      await using it = await opened(open)
      const [one, other, third] = [await it.reserved(), await it.reserved(), await it.reserved()]
      const { sha256 } = other.digest
      await it.db.insertInto('refused_contents').values({ sha256, refused_at: 0 }).execute()
      const ends = await Promise.allSettled([other, third].map((upload) => it.store(upload)))
      expect(codes(ends)).toEqual(['CONTENT_REFUSED'])
      await it.db.updateTable('folders').set({ deleted_at: 1 }).where('id', '=', it.folder).execute()
      await expect(it.store(one)).rejects.toMatchObject({ code: 'FOLDER_NOT_FOUND' })
      expect(await it.found()).toMatchObject({ files: 1, reservations: 2 })
    })

    test('are stored as far as there is space, where nothing was reserved for them', async () => {
      await using it = await opened(open, 3 * SIZE)
      const uploads = await Promise.all(Array.from({ length: 6 }, () => it.small()))
      const ends = await Promise.allSettled(uploads.map((upload) => it.store(upload)))
      expect(codes(ends)).toEqual(Array.from({ length: 3 }, () => 'STORAGE_LIMIT_EXCEEDED'))
      expect(await it.found()).toEqual({ files: 3, reservations: 3, unsound: [] })
      expect(await it.isReservable()).toBe(false)
    })

    test('leave to others what they have reserved', async () => {
      await using it = await opened(open, 2 * SIZE)
      const small = await it.small()
      const [large, other] = [await it.reserved(), await it.reserved()]
      const ends = await Promise.allSettled([small, large, other].map((upload) => it.store(upload)))
      expect(codes(ends)).toEqual(['STORAGE_LIMIT_EXCEEDED'])
      expect(await it.found()).toMatchObject({ files: 2, reservations: 1, unsound: [] })
    })

    test('are stored in the quota of the account rather than the limit of all', async () => {
      await using it = await opened(open)
      await it.db.updateTable('accounts').set({ quota: SIZE }).where('id', '=', it.account).execute()
      const [one, other] = [await it.small(), await it.small()]
      await it.store(one)
      await expect(it.store(other)).rejects.toMatchObject({ code: 'STORAGE_LIMIT_EXCEEDED' })
    })

    test('note what the request led to, if the key is still of the node', async () => {
      await using it = await opened(open)
      const key = { caller: 'ann', hash: 'a'.repeat(64) as Sha256 }
      await insertKeyUse(it.db, key, { created_at: 0, node: NODE })
      const note: Alongside = async (trx, { id }) => {
        if (!(await setKeyResult(trx, key, NODE, String(id)))) throw new Error('the key was taken away')
      }
      const [stored, late] = [
        await it.reserved(),
        await it.reserved(crypto.randomUUID(), makeSlug(systemRandom)),
      ]
      const { id } = await it.store(stored, note)
      const noted = await findKeyUse(it.db, key)
      expect(noted).toMatchObject({ node: null, result: String(id) })
      await expect(it.store(late, note)).rejects.toThrow('taken away')
      expect(await findKeyUse(it.db, key)).toEqual(noted)
      expect(await it.found()).toMatchObject({ files: 1, reservations: 1 })
    })
  },
)
