/** How long sessions, reauthentication, keys and links are good for, to the millisecond. */

import { describe, expect, test } from 'bun:test'
import { createAccounts } from '../../../../src/accounts/accounts.ts'
import { keyHolderNow } from '../../../../src/accounts/api-keys.rows.ts'
import { createKeyHolders } from '../../../../src/accounts/authentication.ts'
import { createKeys } from '../../../../src/accounts/keys.ts'
import { insertOneTimeLink, takeOneTimeLink } from '../../../../src/accounts/one-time-links.ts'
import { setPassword } from '../../../../src/accounts/sign-in/passwords.ts'
import { createReauthentication } from '../../../../src/accounts/sign-in/reauthentication.ts'
import { sessionHolderNow } from '../../../../src/accounts/sign-in/sessions.rows.ts'
import {
  createSessionStart,
  createSessions,
  SESSION_ENDS,
  SESSION_LASTS,
} from '../../../../src/accounts/sign-in/sessions.ts'
import { hashToken } from '../../../../src/core/hmac.ts'
import { hashPassword } from '../../../../src/core/password-hash.ts'
import { createRateLimits } from '../../../../src/core/rate-limits/rate-limits.ts'
import { inTransaction } from '../../../../src/database/transactions.ts'
import { SCOPES } from '../../../../src/domain/access.ts'
import { DAY, HOUR, MINUTE } from '../../../../src/domain/clock.ts'
import { Refusal } from '../../../../src/domain/errors.ts'
import type { AccountId } from '../../../../src/domain/ids.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { sqliteDatabase } from '../../../support/databases/databases.ts'
import { handClock } from '../../../support/hand-clock.ts'

const PASSWORD = 'violet kettle anchors drift'

async function scene() {
  const database = await sqliteDatabase()
  const { db } = database
  const clock = handClock()
  const account = (await createAccounts(db, clock, systemRandom).add('ann')).id as AccountId
  const sessions = createSessions(db, clock)
  const publicUrl = () => 'http://files.example.org'
  const sessionStart = createSessionStart({ clock, random: systemRandom, publicUrl })
  const keys = createKeys(db, clock, systemRandom)
  return {
    db,
    clock,
    account,
    sessions,
    keys,
    holders: createKeyHolders(db, clock),
    reauthentication: createReauthentication(db, await createRateLimits(db, clock), clock, sessions),
    async signIn() {
      const browser = { request: new Request(publicUrl()), address: '' }
      const cookie = await inTransaction(db, (trx) => sessionStart.begin(trx, account, browser, 'password'))
      const token = /=([^;]*);/.exec(cookie)?.[1] ?? ''
      return { caller: () => sessions.authenticate(token, '') }
    },
    async disable() {
      await db.updateTable('accounts').set({ disabled_at: 1 }).where('id', '=', account).execute()
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'done'
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

describe('a session', () => {
  test('is over when nobody has used it for 30 days', async () => {
    await using it = await scene()
    const [used, unused] = [await it.signIn(), await it.signIn()]
    const { session } = (await unused.caller()).by
    it.clock.advance(SESSION_LASTS - 1)
    expect(await codeOf(used.caller)).toBe('done')
    expect(await sessionHolderNow(it.db, session, it.clock.now())).toBe(it.account)
    it.clock.advance(1)
    expect(await codeOf(used.caller)).toBe('done')
    expect(await codeOf(unused.caller)).toBe('NOT_SIGNED_IN')
    expect(await sessionHolderNow(it.db, session, it.clock.now())).toBe(null)
  })

  test('is over after 90 days however often it is used', async () => {
    await using it = await scene()
    const { caller } = await it.signIn()
    for (let gone = 0; gone < SESSION_ENDS - DAY; gone += DAY) {
      it.clock.advance(DAY)
      await caller()
    }
    it.clock.advance(DAY - 1)
    expect(await codeOf(caller)).toBe('done')
    it.clock.advance(1)
    expect(await codeOf(caller)).toBe('NOT_SIGNED_IN')
  })

  test('is noted as used once an hour', async () => {
    await using it = await scene()
    const { caller } = await it.signIn()
    const began = it.clock.now()
    const lastUsed = async () => {
      const [info] = await it.sessions.list(await caller())
      return (info?.lastUsedAt ?? 0) - began
    }
    it.clock.advance(HOUR - 1)
    expect(await lastUsed()).toBe(0)
    it.clock.advance(1)
    expect(await lastUsed()).toBe(HOUR)
  })

  test('of a disabled account lets nobody in', async () => {
    await using it = await scene()
    const { caller } = await it.signIn()
    const { session } = (await caller()).by
    await it.disable()
    expect(await codeOf(caller)).toBe('ACCOUNT_DISABLED')
    expect(await sessionHolderNow(it.db, session, it.clock.now())).toBe(null)
  })
})

describe('a proof', () => {
  test('counts for ten minutes, and the password gives ten more', async () => {
    await using it = await scene()
    const hash = await hashPassword(PASSWORD)
    await inTransaction(it.db, (trx) => setPassword(trx, it.account, hash, it.clock.now()))
    const { caller } = await it.signIn()
    const confirmed = async (password: string | null = null) => {
      const by = await caller()
      return codeOf(() => it.reauthentication.confirm(by, password))
    }
    it.clock.advance(10 * MINUTE - 1)
    expect(await confirmed()).toBe('done')
    it.clock.advance(1)
    expect(await confirmed()).toBe('REAUTHENTICATION_REQUIRED')
    expect(await confirmed('wrong')).toBe('WRONG_PASSWORD')
    expect(await confirmed(PASSWORD)).toBe('done')
    expect(await confirmed()).toBe('done')
  })

  test('may be tried with ten wrong passwords an hour', async () => {
    await using it = await scene()
    const { caller } = await it.signIn()
    const by = await caller()
    const tries = Array.from({ length: 11 }, () =>
      codeOf(() => it.reauthentication.withPassword(by, 'wrong')),
    )
    expect((await Promise.all(tries)).sort()).toEqual(['RATE_LIMITED', ...Array(10).fill('WRONG_PASSWORD')])
  })
})

describe('a key', () => {
  test('is good until the moment at which it expires', async () => {
    await using it = await scene()
    const request = { name: 'a key', scopes: SCOPES, folder: null, expiresAt: it.clock.now() + DAY }
    const { apiKey, id } = await it.keys.add('ann', request)
    const holder = () => keyHolderNow(it.db, id, it.clock.now())
    it.clock.advance(DAY - 1)
    expect([await codeOf(() => it.holders.authenticate(apiKey)), await holder()]).toEqual([
      'done',
      it.account,
    ])
    it.clock.advance(1)
    expect([await codeOf(() => it.holders.authenticate(apiKey)), await holder()]).toEqual([
      'INVALID_API_KEY',
      null,
    ])
  })

  test('of a disabled account lets nobody in, and says nothing of one that was revoked', async () => {
    await using it = await scene()
    const request = { name: 'a key', scopes: SCOPES, folder: null, expiresAt: null }
    const [kept, revoked] = [await it.keys.add('ann', request), await it.keys.add('ann', request)]
    expect(await codeOf(() => it.holders.authenticate(revoked.apiKey))).toBe('done')
    await it.keys.revoke('ann', String(revoked.id))
    expect(await keyHolderNow(it.db, revoked.id, it.clock.now())).toBe(null)
    expect(await keyHolderNow(it.db, kept.id, it.clock.now())).toBe(it.account)
    await it.disable()
    expect(await codeOf(() => it.holders.authenticate(kept.apiKey))).toBe('ACCOUNT_DISABLED')
    expect(await codeOf(() => it.holders.authenticate(revoked.apiKey))).toBe('INVALID_API_KEY')
    expect(await keyHolderNow(it.db, kept.id, it.clock.now())).toBe(null)
    expect(await keyHolderNow(it.db, revoked.id, it.clock.now())).toBe(null)
  })
})

test('a link that is used once is for its purpose, and until the moment at which it expires', async () => {
  await using it = await scene()
  const made = it.clock.now()
  const add = async (token: string) => {
    const times = { created_at: made, expires_at: made + DAY }
    const link = {
      token_hash: hashToken(token),
      purpose: 'password',
      account_id: it.account,
      ...times,
    } as const
    await insertOneTimeLink(it.db, link)
  }
  const taken = (token: string, purpose: 'password' | 'invitation') =>
    inTransaction(it.db, async (trx) => {
      const link = await takeOneTimeLink(trx, hashToken(token), purpose, it.clock.now())
      return link?.account_id ?? null
    })
  for (const token of ['in time', 'too late']) await add(token)
  it.clock.advance(DAY - 1)
  expect(await taken('in time', 'invitation')).toBe(null)
  expect(await taken('in time', 'password')).toBe(it.account)
  expect(await taken('in time', 'password')).toBe(null)
  it.clock.advance(1)
  expect(await taken('too late', 'password')).toBe(null)
})
