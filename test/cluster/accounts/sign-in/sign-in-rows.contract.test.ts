/** What requests that come at the same moment must not both get, on each database. */
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { createAccounts } from '../../../../src/accounts/accounts.ts'
import { createChallenges } from '../../../../src/accounts/sign-in/challenges.ts'
import { advanceCounter, findPasskey, insertPasskey } from '../../../../src/accounts/sign-in/passkeys.ts'
import {
  beginTwoFactor,
  setRecoveryCodes,
  takeCodeStep,
  turnOnCodes,
} from '../../../../src/accounts/sign-in/second-factor.ts'
import type { Database, Trx } from '../../../../src/database/database.ts'
import { inTransaction } from '../../../../src/database/transactions.ts'
import { MINUTE } from '../../../../src/domain/clock.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { databases } from '../../../support/databases/databases.ts'
import { handClock } from '../../../support/hand-clock.ts'

const AT_ONCE = 12

describe.each(databases('rows of signing in'))('%s: ', (_, open) => {
  const clock = handClock()
  const counted = (db: Database) =>
    createChallenges({ db, clock, random: systemRandom, publicUrl: () => 'http://files.example.org' })({
      name: 'counted',
      lasts: MINUTE,
      content: z.object({ tries: z.number() }),
    })
  const browserWith = (cookie: string) => ({
    request: new Request('http://files.example.org', { headers: { cookie: cookie.split(';')[0] ?? '' } }),
    address: '',
  })

  test('every change of a challenge counts, whichever node makes it', async () => {
    await using it = await open()
    const [one, two] = [counted(it.db), counted(it.another())]
    const browser = browserWith(await one.begin(it.db, { tries: 0 }))
    const changes = Array.from({ length: AT_ONCE }, (_, at) =>
      (at % 2 === 0 ? one : two).change(browser, ({ tries }) => ({ tries: tries + 1 })),
    )
    const seen = (await Promise.all(changes)).map((content) => content?.tries ?? 0)
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: AT_ONCE }, (_, at) => at + 1))
    expect(await two.find(browser)).toEqual({ tries: AT_ONCE })
  })

  test('one of all who take a challenge gets it, and nobody when its time is over', async () => {
    await using it = await open()
    const [one, two] = [counted(it.db), counted(it.another())]
    const browser = browserWith(await one.begin(it.db, { tries: 3 }))
    const takes = [one.take(it.db, browser), two.take(it.another(), browser), one.take(it.db, browser)]
    const got = (await Promise.all(takes)).filter((content) => content !== null)
    expect(got).toEqual([{ tries: 3 }])
    const late = browserWith(await one.begin(it.db, { tries: 3 }))
    clock.advance(MINUTE)
    expect([await one.find(late), await one.change(late, (same) => same)]).toEqual([null, null])
    expect(await one.take(it.db, late)).toBeNull()
  })

  test('codes of the app and of earlier steps count once, and recovery codes are made anew only for those that count', async () => {
    await using it = await open()
    const { id } = await createAccounts(it.db, clock, systemRandom).add('ann')
    const inTrx = <T>(work: (trx: Trx) => Promise<T>) => inTransaction(it.db, work)
    await inTrx((trx) => beginTwoFactor(trx, id, { secret: 'sealed', recovery_codes: 'sealed' }))
    expect(await setRecoveryCodes(it.db, id, 'others')).toBe(false)
    await inTrx((trx) => turnOnCodes(trx, id))
    expect(await setRecoveryCodes(it.db, id, 'others')).toBe(true)
    const taken: boolean[] = []
    for (const step of [7, 7, 6, 8]) taken.push(await inTrx((trx) => takeCodeStep(trx, id, step)))
    expect(taken).toEqual([true, false, false, true])
  })

  test('the counter of a passkey goes up alone, and one that does not count stays', async () => {
    await using it = await open()
    const { id } = await createAccounts(it.db, clock, systemRandom).add('grace')
    const passkeyWith = async (credential_id: string, counter: number) => {
      await insertPasskey(it.db, {
        account_id: id,
        name: null,
        credential_id,
        public_key: '',
        counter,
        device_type: 'singleDevice',
        backed_up: 0,
        transports: '',
        aaguid: '',
        created_at: clock.now(),
      })
      const passkey = await findPasskey(it.db, credential_id)
      if (passkey === undefined) throw new Error('the passkey was not kept')
      return (to: number) => advanceCounter(it.db, passkey.id, to)
    }
    const counting = await passkeyWith('counting', 4)
    const outcomes = [await counting(0), await counting(3), await counting(4), await counting(5)]
    expect(outcomes).toEqual([false, false, false, true])
    const both = await Promise.all([counting(6), counting(6)])
    expect(both.sort()).toEqual([false, true])
    const plain = await passkeyWith('plain', 0)
    expect([await plain(0), await plain(0), await plain(1), await plain(0)]).toEqual([
      true,
      true,
      true,
      false,
    ])
  })
})
