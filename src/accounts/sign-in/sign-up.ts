import { findAccount, hasAdmin, insertAccount } from '../../core/accounts.rows.ts'
import { recordAuditEntry } from '../../core/audit-log.ts'
import type { Core } from '../../core/core.ts'
import { hashToken } from '../../core/hmac.ts'
import { hashPassword } from '../../core/password-hash.ts'
import { countTry, tryOnce } from '../../core/rate-limits/attempts.ts'
import type { Trx } from '../../database/database.ts'
import { isUniqueViolation, lockMigrations } from '../../database/differences.ts'
import type { LinkPurpose } from '../../database/schema.ts'
import { inTransaction } from '../../database/transactions.ts'
import { parseUsername } from '../../domain/account.ts'
import { HOUR } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Outbox } from '../../mail/outbox.ts'
import type { Call } from '../../server/call.ts'
import {
  assertOpen,
  dropOneTimeLinks,
  findOneTimeLink,
  invalidLink,
  invitationNeeded,
  takeOneTimeLink,
} from '../one-time-links.ts'
import { assertStrong, setPassword } from './passwords.ts'
import { endSessions } from './sessions.rows.ts'

export interface NewAccount {
  readonly username: string
  readonly password: string
}

/** Per address and hour: grading and hashing costs the server far more than the client. */
const TRIES_PER_ADDRESS = 10
/** Per link and hour: grading and hashing a password is expensive. */
const TRIES_PER_LINK = 10

/** A request that fails uses up no link. */
export function createSignUp({
  db,
  rates,
  clock,
  random,
  config: { signUp: mode },
  outbox,
}: Pick<Core, 'db' | 'rates' | 'clock' | 'random'> & {
  readonly config: Pick<Core['config'], 'signUp'>
  readonly outbox: Outbox
}) {
  const findLink = (purpose: LinkPurpose, token: string) =>
    findOneTimeLink(db, hashToken(token), purpose, clock.now())

  const takeLink = (trx: Trx, purpose: LinkPurpose, token: string) =>
    takeOneTimeLink(trx, hashToken(token), purpose, clock.now())

  /**
   * Counts failures by link, not by address, so that others at the address cannot use them up. An invalid
   * link hashes no password and counts no attempt. Throws what `work` throws, and Refusal INVALID_LINK or
   * RATE_LIMITED.
   */
  async function byLink(purpose: LinkPurpose, token: string, work: () => Promise<void>): Promise<void> {
    if ((await findLink(purpose, token)) === undefined) throw invalidLink()
    const subject = `sign-up-link:${hashToken(token)}`
    const windows = [{ subject, limit: TRIES_PER_LINK, length: HOUR }] as const
    const message = 'Too many new passwords by this link; wait a while and try again'
    const isDone = await tryOnce(rates, windows, { message, tried: null }, async () => {
      // The link may have been used while this try waited for its turn.
      if ((await findLink(purpose, token)) === undefined) return false
      await work()
      return true
    })
    if (!isDone) throw invalidLink()
  }

  /** `allow` runs in the transaction before the account is made. Throws Refusal DUPLICATE_NAME. */
  async function addAccount(
    { username: wanted, password }: NewAccount,
    is_admin: 0 | 1,
    allow: (trx: Trx) => Promise<void>,
    note: (trx: Trx, id: AccountId, username: string) => Promise<void> = async () => {},
  ): Promise<void> {
    const username = parseUsername(wanted)
    await assertStrong(password, [username])
    const hash = await hashPassword(password)
    try {
      await inTransaction(db, async (trx) => {
        await allow(trx)
        const now = clock.now()
        const id = await insertAccount(trx, random, { username, created_at: now, is_admin })
        await setPassword(trx, id, hash, now)
        await note(trx, id, username)
      })
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new Refusal('DUPLICATE_NAME', `An account "${username}" already exists`)
    }
  }

  return {
    /**
     * Throws Refusal SIGN_UP_CLOSED, INVITATION_NEEDED, INVALID_LINK, INVALID_NAME, DUPLICATE_NAME,
     * WEAK_PASSWORD or RATE_LIMITED.
     */
    async join(
      account: NewAccount,
      invitation: string | null,
      { bucket }: Pick<Call, 'bucket'>,
    ): Promise<void> {
      assertOpen(mode)
      const add = () =>
        addAccount(account, 0, async (trx) => {
          const link = invitation === null ? null : await takeLink(trx, 'invitation', invitation)
          if (mode === 'invitation' && link === undefined) throw invalidLink()
        })
      if (mode === 'invitation') {
        if (invitation === null) throw invitationNeeded()
        return byLink('invitation', invitation, add)
      }
      const windows = [{ subject: `sign-up:${bucket}`, limit: TRIES_PER_ADDRESS, length: HOUR }]
      await countTry(rates, windows, 'Too many new passwords from your network; wait a while and try again')
      await add()
    },

    /** Creates the first administrator; of concurrent requests one succeeds. Throws what `join` throws. */
    first: (account: NewAccount, token: string, { address }: Pick<Call, 'address'>): Promise<void> =>
      byLink('welcome', token, () =>
        addAccount(
          account,
          1,
          async (trx) => {
            await lockMigrations(trx)
            const link = await takeLink(trx, 'welcome', token)
            if (link === undefined || (await hasAdmin(trx))) throw invalidLink()
            await dropOneTimeLinks(trx, 'welcome', 'all')
          },
          async (trx, id, username) => {
            const actor = { kind: 'administrator', account: id, username, address } as const
            await recordAuditEntry(trx, clock, actor, { act: 'admin.made', object: username })
          },
        ),
      ),

    /**
     * Also ends the account's sessions; returns its user name. Throws Refusal INVALID_LINK, WEAK_PASSWORD or
     * RATE_LIMITED.
     */
    async setPassword(token: string, password: string): Promise<string> {
      const account = (await findLink('password', token))?.account_id ?? null
      const owner = account === null ? undefined : await findAccount(db, account)
      if (account === null || owner === undefined) throw invalidLink()
      await byLink('password', token, async () => {
        await assertStrong(password, [owner.username])
        const hash = await hashPassword(password)
        await inTransaction(db, async (trx) => {
          if ((await takeLink(trx, 'password', token)) === undefined) throw invalidLink()
          await setPassword(trx, account, hash, clock.now())
          await dropOneTimeLinks(trx, 'password', account)
          await endSessions(trx, account, null)
          await outbox.notify(trx, account, 'password changed')
        })
      })
      return owner.username
    },
  }
}
