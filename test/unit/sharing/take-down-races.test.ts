/** Taking a content down while one of its files changes hands. */
import { expect, test } from 'bun:test'
import type { Database } from '../../../src/database/database.ts'
import { COMMAND_LINE } from '../../../src/domain/audit.ts'
import { createTakeDowns } from '../../../src/sharing/take-downs.ts'
import { claimFile } from '../../../src/uploads/receipts.ts'
import { buildParts } from '../../support/servers/parts.ts'
import { unsoundTotals } from '../../support/storage/soundness.ts'

const GUEST = { kind: 'guest', bucket: '192.0.2.1' } as const
const LIMITS = { storageLimit: 1000, guestStorage: 1000 }

/** The database, with work in front of its transaction of that number. */
function withWorkBefore(db: Database, transaction: number, work: () => Promise<unknown>): Database {
  let count = 0
  return new Proxy(db, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property)
      if (property !== 'transaction') return typeof value === 'function' ? value.bind(target) : value
      return () => ({
        async execute(run: Parameters<ReturnType<Database['transaction']>['execute']>[0]) {
          if (++count === transaction) await work()
          return target.transaction().execute(run)
        },
      })
    },
  })
}

test('a file that its guest claims meanwhile is taken down as the account’s', async () => {
  await using parts = await buildParts()
  const { db, clock, caller, store } = parts
  const { uuid, sha256 } = await store('taken down', 'a.bin', GUEST)
  const claim = () =>
    claimFile({ db, clock, limits: LIMITS }, { kind: 'uuid', uuid }, { reach: caller, place: 'root' })
  // The first refuses the content, the second removes files of guests.
  const takeDowns = createTakeDowns(withWorkBefore(db, 2, claim), clock, () => {})
  expect(await takeDowns.content(COMMAND_LINE, sha256)).toEqual({ sha256, files: 1 })
  const rows = await db.selectFrom('files').select(['account_id', 'removal']).execute()
  expect(rows).toEqual([])
  expect(await unsoundTotals(db)).toEqual([])
})
