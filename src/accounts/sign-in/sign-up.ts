import type { SignUp as Mode } from '../../config.ts'
import { findAccount, hasAdmin, insertAccount } from '../../core/accounts.rows.ts'
import { recordAuditEntry } from '../../core/audit-log.ts'
import { hashToken } from '../../core/hmac.ts'
import { hashPassword } from '../../core/password-hash.ts'
import { countTry, tryOnce } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database, Trx } from '../../database/database.ts'
import { isUniqueViolation, lockMigrations } from '../../database/differences.ts'
import type { LinkPurpose } from '../../database/schema.ts'
import { inTransaction } from '../../database/transactions.ts'
import { parseUsername } from '../../domain/account.ts'
import { type Clock, HOUR } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Random } from '../../domain/random.ts'
import type { Outbox } from '../../mail/outbox.ts'
import {
  dropOneTimeLinks,
  findOneTimeLink,
  type OneTimeLinkRow,
  takeOneTimeLink,
} from '../one-time-links.rows.ts'
import { assertOpen, invalidLink, invitationNeeded } from '../one-time-links.ts'
import { setPassword } from './identities.rows.ts'
import { assertStrong } from './password-strength.ts'
import { endSessions } from './sessions.rows.ts'

export interface NewAccount {
  readonly username: string
  readonly password: string
}

/** `bucket`: key of rate limits. */
export interface RequestOrigin {
  readonly address: string
  readonly bucket: string
}

/** A request that fails uses up no link. */
export interface SignUpRules {
  /**
   * Throws Refusal SIGN_UP_CLOSED, INVITATION_NEEDED, INVALID_LINK, INVALID_NAME, DUPLICATE_NAME,
   * WEAK_PASSWORD or RATE_LIMITED.
   */
  join(account: NewAccount, invitation: string | null, from: RequestOrigin): Promise<void>
  /** Creates the first administrator; of concurrent requests one succeeds. Throws what `join` throws. */
  first(account: NewAccount, token: string, from: RequestOrigin): Promise<void>
  /**
   * Also ends the account's sessions; returns its user name. Throws Refusal INVALID_LINK, WEAK_PASSWORD or
   * RATE_LIMITED.
   */
  setPassword(token: string, password: string): Promise<string>
}

/** Per address and hour: grading and hashing costs the server far more than the client. */
const TRIES_PER_ADDRESS = 10

interface SignUpParts {
  readonly db: Database
  readonly rates: RateLimits
  readonly clock: Clock
  readonly random: Random
  readonly outbox: Outbox
  readonly mode: Mode
}

export function createSignUp(parts: SignUpParts): SignUpRules {
  return new PasswordSignUp(parts)
}

interface PreparedAccount {
  readonly username: string
  readonly hash: string
}

class PasswordSignUp implements SignUpRules {
  readonly #parts: SignUpParts
  readonly #links: LinkAttempts

  constructor(parts: SignUpParts) {
    this.#parts = parts
    this.#links = new LinkAttempts(parts.db, parts.rates, parts.clock)
  }

  async join(account: NewAccount, invitation: string | null, { bucket }: RequestOrigin): Promise<void> {
    const { mode, rates } = this.#parts
    assertOpen(mode)
    if (mode === 'invitation') {
      if (invitation === null) throw invitationNeeded()
      return this.#links.attempt('invitation', invitation, () => this.#join(account, invitation))
    }
    const windows = [{ subject: `sign-up:${bucket}`, limit: TRIES_PER_ADDRESS, length: HOUR }]
    const message = 'Too many new passwords from your network; wait a while and try again'
    await countTry(rates, windows, message)
    await this.#join(account, invitation)
  }

  async #join(account: NewAccount, invitation: string | null): Promise<void> {
    const { mode, clock } = this.#parts
    const prepared = await prepare(account)
    await this.#unlessTaken(prepared.username, async (trx) => {
      const link =
        invitation === null
          ? null
          : await takeOneTimeLink(trx, hashToken(invitation), 'invitation', clock.now())
      if (mode === 'invitation' && link === undefined) throw invalidLink()
      await this.#insert(trx, prepared, 0)
    })
  }

  async first(account: NewAccount, token: string, { address }: RequestOrigin): Promise<void> {
    const { clock } = this.#parts
    await this.#links.attempt('welcome', token, async () => {
      const prepared = await prepare(account)
      const { username } = prepared
      await this.#unlessTaken(username, async (trx) => {
        await lockMigrations(trx)
        const link = await takeOneTimeLink(trx, hashToken(token), 'welcome', clock.now())
        if (link === undefined || (await hasAdmin(trx))) throw invalidLink()
        await dropOneTimeLinks(trx, 'welcome', 'all')
        const id = await this.#insert(trx, prepared, 1)
        const actor = { kind: 'administrator', account: id, username, address } as const
        await recordAuditEntry(trx, clock, actor, { act: 'admin.made', object: username })
      })
    })
  }

  async setPassword(token: string, password: string): Promise<string> {
    const { db, clock, outbox } = this.#parts
    const { account_id: account } = await this.#links.find('password', token)
    const owner = account === null ? undefined : await findAccount(db, account)
    if (account === null || owner === undefined) throw invalidLink()
    await this.#links.attempt('password', token, async () => {
      await assertStrong(password, [owner.username])
      const hash = await hashPassword(password)
      await inTransaction(db, async (trx) => {
        const link = await takeOneTimeLink(trx, hashToken(token), 'password', clock.now())
        if (link === undefined) throw invalidLink()
        await setPassword(trx, account, hash, clock.now())
        await dropOneTimeLinks(trx, 'password', account)
        await endSessions(trx, account, null)
        await outbox.notify(trx, account, 'password changed')
      })
    })
    return owner.username
  }

  async #insert(trx: Trx, { username, hash }: PreparedAccount, is_admin: 0 | 1): Promise<AccountId> {
    const { clock, random } = this.#parts
    const now = clock.now()
    const id = await insertAccount(trx, random, { username, created_at: now, is_admin })
    await setPassword(trx, id, hash, now)
    return id
  }

  /** Throws Refusal DUPLICATE_NAME. */
  async #unlessTaken(username: string, work: (trx: Trx) => Promise<void>): Promise<void> {
    try {
      await inTransaction(this.#parts.db, work)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new Refusal('DUPLICATE_NAME', `An account "${username.toLowerCase()}" already exists`)
    }
  }
}

async function prepare({ username, password }: NewAccount): Promise<PreparedAccount> {
  const name = parseUsername(username)
  await assertStrong(password, [name])
  return { username: name, hash: await hashPassword(password) }
}

/** Per link and hour: grading and hashing a password is expensive. */
const TRIES_PER_LINK = 10

class LinkAttempts {
  readonly #db: Database
  readonly #rates: RateLimits
  readonly #clock: Clock

  constructor(db: Database, rates: RateLimits, clock: Clock) {
    this.#db = db
    this.#rates = rates
    this.#clock = clock
  }

  /** Throws Refusal INVALID_LINK. */
  async find(purpose: LinkPurpose, token: string): Promise<OneTimeLinkRow> {
    const link = await findOneTimeLink(this.#db, hashToken(token), purpose, this.#clock.now())
    if (link === undefined) throw invalidLink()
    return link
  }

  /**
   * Counts failures by link, not by address, so that others at the address cannot use them up. An invalid
   * link hashes no password and counts no attempt. Throws what `work` throws, and Refusal INVALID_LINK or
   * RATE_LIMITED.
   */
  async attempt(purpose: LinkPurpose, token: string, work: () => Promise<void>): Promise<void> {
    await this.find(purpose, token)
    const subject = `sign-up-link:${hashToken(token)}`
    const windows = [{ subject, limit: TRIES_PER_LINK, length: HOUR }] as const
    const message = 'Too many new passwords by this link; wait a while and try again'
    const isDone = await tryOnce(this.#rates, windows, { message, tried: null }, async () => {
      // The link may have been used while this try waited for its turn.
      if ((await findOneTimeLink(this.#db, hashToken(token), purpose, this.#clock.now())) === undefined)
        return false
      await work()
      return true
    })
    if (!isDone) throw invalidLink()
  }
}
