import { expect, test } from 'bun:test'
import { findAccount } from '../../../src/core/accounts.rows.ts'
import { pooledKeys } from '../../../src/core/blobs.rows.ts'
import { joinNodes } from '../../../src/core/nodes/nodes.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { Refusal } from '../../../src/domain/errors.ts'
import { type AccountId, type FolderPlace, GUESTS, type Sha256 } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createCleaning } from '../../../src/files/blob-cleaning.job.ts'
import { createFolders } from '../../../src/files/folders/folders.ts'
import { createLog } from '../../../src/log.ts'
import { BlobKeyPool, FreeSpace, Reservations } from '../../../src/uploads/reservations.ts'
import { NOWHERE } from '../../support/node-place.ts'
import { buildParts } from '../../support/servers/parts.ts'
import { overridden } from '../../support/storage/overridden.ts'
import { unsoundTotals } from '../../support/storage/soundness.ts'

const GIB = 1024 ** 3

test('what an upload was promised is nobody else’s until the disk itself tells of its bytes', async () => {
  await using parts = await buildParts()
  const { db, rates, caller } = parts
  let free = 10
  const reservations = new Reservations({
    db,
    blobs: overridden(parts.blobs, { freeSpace: async () => free }),
    databaseSpace: async () => null,
    rates,
    nodes: await joinNodes({
      db,
      clock: systemClock,
      random: systemRandom,
      log: createLog('silent', { terminal: false }),
      alone: true,
      place: NOWHERE,
    }),
    clock: systemClock,
    random: systemRandom,
    limits: { storageLimit: GIB, guestStorage: GIB, guestHourlySize: GIB, minFreeSpace: 0 },
    report: (error) => parts.reported.push(error),
  })
  const reserve = (bytes: number) => reservations.reserve(caller, bytes, 0)

  const first = await reserve(6)
  await first.cover(6)
  await expect(reserve(5)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  first.wrote(4)
  free -= 4
  await expect(reserve(5)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  const other = await reserve(4)
  await other.release()
  first.wrote(2)
  free -= 2
  await first.release()
  await reserve(4)
  await expect(reserve(1)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  expect(parts.reported).toEqual([])
})

test('an account is full to the byte: what it stores, what is reserved and what is asked for count', async () => {
  await using parts = await buildParts({ limits: { storageLimit: 10 } })
  const { caller, db } = parts
  const reserve = (bytes: number) => parts.reservations.reserve(caller, bytes, 0)
  const full = { code: 'STORAGE_LIMIT_EXCEEDED' }
  await parts.store('1234', 'stored.txt')
  expect(await unsoundTotals(db)).toEqual([])
  await expect(reserve(7)).rejects.toMatchObject(full)
  const first = await reserve(6)
  await expect(reserve(1)).rejects.toMatchObject(full)
  await first.release()
  await (await reserve(6)).release()
  // A quota of the account's own takes the place of the limit.
  await db.updateTable('accounts').set({ quota: 11 }).where('id', '=', caller.account).execute()
  await expect(reserve(8)).rejects.toMatchObject(full)
  await reserve(7)
  expect(await findAccount(db, caller.account)).toMatchObject({ storage_used: 4, storage_reserved: 7 })
  expect(parts.reported).toEqual([])
})

test('an upload into a folder below one that was deleted meanwhile is refused, and leaves nothing reserved', async () => {
  await using parts = await buildParts()
  const { caller, db, clock, uploads, removals } = parts
  const folders = createFolders(db, clock, systemRandom, 256)
  const folder = (name: string, parent: FolderPlace) =>
    folders.create(caller, { name, parent, isPublic: true, password: null })
  const outer = await folder('outer', 'root')
  const inner = await folder('inner', outer.identifier)
  const upload = await uploads.begin(caller, inner.identifier, { least: 4, declared: 4 })
  await upload.write(Buffer.from('late'))
  await removals.folders(caller, [outer.identifier])
  await expect(upload.finish('late.txt', null)).rejects.toMatchObject({ code: 'FOLDER_NOT_FOUND' })
  await upload.abort()
  expect(await findAccount(db, caller.account)).toMatchObject({ storage_used: 0, storage_reserved: 0 })
  expect(parts.reported).toEqual([])
})

test('guests are told whether only their share of the disk is used up, or all of it', async () => {
  await using parts = await buildParts()
  let left = 0
  const space = new FreeSpace({
    db: parts.db,
    blobs: { freeSpace: async () => left },
    databaseSpace: async () => null,
    minFreeSpace: 100,
  })
  const reasonFor = (account: AccountId) =>
    space.assertFree(account, 10).then(
      () => null,
      (error: unknown) => (error instanceof Refusal ? error.reason : error),
    )
  const { account } = parts.caller
  for (const [free, ofGuest, ofAccount] of [
    [210, null, null],
    [209, 'guests', null],
    [110, 'guests', null],
    [109, 'full', 'full'],
  ] as const) {
    left = free
    expect([await reasonFor(GUESTS), await reasonFor(account)]).toEqual([ofGuest, ofAccount])
  }
})

test('an upload that writes more than was reserved for it is stopped', async () => {
  await using parts = await buildParts()
  const reservation = await parts.reservations.reserve(parts.caller, 6, 6)
  reservation.wrote(6)
  expect(() => reservation.wrote(1)).toThrow('reservation-not-negative')
  await reservation.release()
})

test('keys are recorded many at once, and what a process that was killed has written under them is gone after the next start', async () => {
  await using parts = await buildParts()
  const { db, blobs } = parts
  const pool = new BlobKeyPool({ db, random: systemRandom })
  const keys = await Promise.all(Array.from({ length: 100 }, () => pool.take()))
  expect(new Set(keys).size).toBe(100)
  expect(await pooledKeys(db)).toEqual(expect.arrayContaining(keys))
  const [cut, stored] = keys
  if (cut === undefined || stored === undefined) throw new Error('no keys')
  const sha256 = Bun.SHA256.hash('stored', 'hex') as Sha256
  await blobs.put(cut, Buffer.from('cut'), Bun.SHA256.hash('cut', 'hex') as Sha256)
  await blobs.put(stored, Buffer.from('stored'), sha256)
  await db
    .insertInto('blobs')
    .values({ key: stored, sha256, crc32: 0, size: 6, created_at: 0, refs: 1 })
    .execute()
  const garbage = db.selectFrom('blob_garbage').select('key')
  const isAllowed = async () => false
  const report = (error: unknown) => parts.reported.push(error)
  await createCleaning(db, blobs, systemClock, report, { isAllowed }).afterStart()
  // What may not be removed now is known.
  expect(await garbage.execute()).toEqual([{ key: cut }])
  expect(await pooledKeys(db)).toEqual([])
  expect(await blobs.size(stored)).toBe(6)
})
