/** Requests are counted in memory and written every second: whoever reads meanwhile finds each of them once. */
import { describe, expect, test } from 'bun:test'
import { createAccounts } from '../../../src/accounts/accounts.ts'
import type { AccountCaller } from '../../../src/core/callers.ts'
import { SCOPES } from '../../../src/domain/access.ts'
import type { AccountId, SessionId } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { Usage } from '../../../src/files/use-counters.ts'
import { databases } from '../../support/databases/databases.ts'
import { handClock } from '../../support/hand-clock.ts'

describe.each(databases('counted requests'))('requests on %s', (_, open) => {
  test('are told while they are written', async () => {
    await using opened = await open()
    const clock = handClock()
    const { id } = await createAccounts(opened.db, clock, systemRandom).add('ann')
    const account = id as AccountId
    const caller: AccountCaller = {
      kind: 'account',
      account,
      within: null,
      username: 'ann',
      by: { kind: 'session', session: 1 as SessionId, isAdmin: false, provedAt: 0, address: '' },
      scopes: SCOPES,
      expiresAt: null,
    }
    const usage = new Usage(opened.db, clock)
    for (let count = 1; count <= 20; count++) {
      usage.requested(caller)
      const [, today, days] = await Promise.all([
        usage.flush(),
        usage.requestsToday(account),
        usage.requestsByDay(account, 2),
      ])
      expect([today, ...days.map(({ requests }) => requests)]).toEqual([count, 0, count])
    }
  })
})
