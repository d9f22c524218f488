import { expect, test } from 'bun:test'
import { createOidcProvider } from '../../../../src/accounts/sign-in/oidc.ts'
import { createRateLimits } from '../../../../src/core/rate-limits/rate-limits.ts'
import { MINUTE } from '../../../../src/domain/clock.ts'
import { Refusal } from '../../../../src/domain/errors.ts'
import { sqliteDatabase } from '../../../support/databases/databases.ts'
import { handClock } from '../../../support/hand-clock.ts'

test('of a thousand who sign in at once by another server 50 wait for it, and the others use up none of their tries', async () => {
  await using database = await sqliteDatabase()
  const rates = await createRateLimits(database.db, handClock())
  const nobody = () => Promise.reject(new Error('nothing is asked'))
  const provider = createOidcProvider({ rates, exchange: { begin: nobody, finish: nobody }, report() {} })
  const { promise: answer, resolve } = Promise.withResolvers<string>()
  const outcome = (at: number) =>
    provider
      .ask(`address ${at}`, 'oidc', () => answer)
      .catch((error: unknown) => (error instanceof Refusal ? error.code : 'failed'))
  const all = Array.from({ length: 1000 }, (_, at) => outcome(at))
  expect(await Promise.all(all.slice(50))).toEqual(Array(950).fill('SERVER_BUSY'))
  expect((await rates.look('oidc:address 999', 1, 60, 15 * MINUTE)).remaining).toBe(60)
  resolve('signed in')
  expect(await Promise.all(all.slice(0, 50))).toEqual(Array(50).fill('signed in'))
  expect(await outcome(999)).toBe('signed in')
})
