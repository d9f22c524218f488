/** Requests of an account that was deleted while they were under way. */
import { expect, test } from 'bun:test'
import { removeAccount } from '../../../src/accounts/accounts.ts'
import { lockAccount } from '../../../src/database/differences.ts'
import { inTransaction } from '../../../src/database/transactions.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { createFolders } from '../../../src/files/folders/folders.ts'
import { buildParts } from '../../support/servers/parts.ts'

test('a folder is not made at the top level of an account that is gone, where nothing would clear it', async () => {
  await using parts = await buildParts()
  const { db, caller, clock } = parts
  const folders = createFolders(db, clock, systemRandom, 256)
  await inTransaction(db, async (trx) => {
    await lockAccount(trx, caller.account)
    await removeAccount(trx, caller.account, clock.now())
  })
  const folder = { name: 'late', parent: 'root', isPublic: true, password: null } as const
  await expect(folders.create(caller, folder)).rejects.toMatchObject({ code: 'FOLDER_NOT_FOUND' })
  const made = db.selectFrom('folders').select('name').where('parent_id', 'is not', null)
  expect(await made.execute()).toEqual([])
})
