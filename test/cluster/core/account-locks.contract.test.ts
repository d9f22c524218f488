/** Account locks, which keep totals right and transactions from waiting for each other. */
import { describe, expect, test } from 'bun:test'
import { createAccounts } from '../../../src/accounts/accounts.ts'
import { changeTotals } from '../../../src/core/accounts.rows.ts'
import type { Database } from '../../../src/database/database.ts'
import { lockAccount } from '../../../src/database/differences.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { databases } from '../../support/databases/databases.ts'

async function twoAccounts(db: Database) {
  const accounts = createAccounts(db, systemClock, systemRandom)
  await accounts.add('alice')
  await accounts.add('bob')
  const rows = await db
    .selectFrom('accounts')
    .select('id')
    .where('username', 'in', ['alice', 'bob'])
    .orderBy('id')
    .execute()
  const [first, second] = rows.map(({ id }) => id)
  if (first === undefined || second === undefined) throw new Error('the accounts are not there')
  return { first, second }
}

describe.each(databases('account locks'))('account locks on %s', (_, open) => {
  test('are required before totals change, of the same account', async () => {
    await using database = await open()
    const { db } = database
    const { first, second } = await twoAccounts(db)
    const changing = inTransaction(db, async (trx) => {
      await lockAccount(trx, first)
      await changeTotals(trx, second, { files: 1 })
    })
    await expect(changing).rejects.toMatchObject({ invariant: 'account-is-locked' })
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, second)
      await changeTotals(trx, second, { files: 1 })
    })
  })

  test('are taken in the order of ids, again as often as one likes', async () => {
    await using database = await open()
    const { db } = database
    const { first, second } = await twoAccounts(db)
    const inOrder = inTransaction(db, async (trx) => {
      for (const account of [first, first, second, second]) await lockAccount(trx, account)
      return 'done'
    })
    expect(await inOrder).toBe('done')
    const backwards = inTransaction(db, async (trx) => {
      for (const account of [second, first]) await lockAccount(trx, account)
    })
    await expect(backwards).rejects.toMatchObject({
      name: 'InvariantViolated',
      invariant: 'accounts-are-locked-in-order',
    })
  })
})
