import type { SignUp as Mode } from '../config.ts'
import { findAccount, hasAdmin, insertAccount } from '../database/accounts.ts'
import { isUniqueViolation, lockMigrations } from '../database/differences.ts'
import { findSubject, insertSubject, setPassword } from '../database/identities.ts'
import { dropLinks, findLink, takeLink } from '../database/one-time-links.ts'
import type { Db, LinkPurpose } from '../database/schema.ts'
import { endSessions } from '../database/sessions.ts'
import { hashToken } from '../database/token-hash.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { parseUsername } from '../domain/username.ts'
import { noteDeed } from './audit.ts'
import { assertOpen, invalidLink, invitationNeeded } from './one-time-links.ts'
import type { Outbox } from './outbox.ts'
import { assertStrong } from './password-strength.ts'
import { hashPassword } from './passwords.ts'
import type { RateLimits } from './rate-limits.ts'
import { countTry, tryOnce } from './tries.ts'

export interface NewAccount {
  readonly username: string
  readonly password: string
}

/** Where somebody is. `bucket`: what their tries are counted by. */
export interface Whereabouts {
  readonly address: string
  readonly bucket: string
}

/** How people come to an account that they can sign in to. What fails has used up no link. */
export interface SignUp {
  /** Throws Refusal SIGN_UP_CLOSED, INVITATION_NEEDED, INVALID_LINK, INVALID_NAME, DUPLICATE_NAME, WEAK_PASSWORD or RATE_LIMITED. */
  join(account: NewAccount, invitation: string | null, from: Whereabouts): Promise<void>
  /** The first administrator: of all who try at once one succeeds. Throws what `join` throws. */
  first(account: NewAccount, token: string, from: Whereabouts): Promise<void>
  /**
   * Sets the password that the link is for, ends the account's sessions, and tells its name. Throws Refusal INVALID_LINK,
   * WEAK_PASSWORD or RATE_LIMITED.
   */
  setPassword(token: string, password: string): Promise<string>
  /** The account of somebody another server knows, made when it is the first time. */
  joinBySubject(subject: string, wanted: string): Promise<void>
}

/** New passwords by address in an hour: each costs the server more to judge and to hash than to ask for. */
const TRIES_PER_ADDRESS = 10
/** The same by each link that was given out. */
const TRIES_PER_LINK = 10

export function createSignUp(parts: {
  db: Db
  rates: RateLimits
  clock: Clock
  random: Random
  outbox: Outbox
  mode: Mode
}): SignUp {
  const { db, rates, clock, random, outbox, mode } = parts

  const counted = ({ bucket }: Whereabouts) =>
    countTry(
      rates,
      [{ subject: `sign-up:${bucket}`, limit: TRIES_PER_ADDRESS, length: HOUR }],
      'Too many new passwords from your network; wait a while and try again',
    )

  const linkOf = (purpose: LinkPurpose, token: string) => findLink(db, hashToken(token), purpose, clock.now())

  /**
   * Tries with a link are counted by the link, so that nobody else at the same address can use them up; with one that does
   * not work none is made, because hashing a password is dear.
   */
  async function byLink(purpose: LinkPurpose, token: string, work: () => Promise<void>): Promise<void> {
    const windows = [
      { subject: `sign-up-link:${hashToken(token)}`, limit: TRIES_PER_LINK, length: HOUR },
    ] as const
    const message = 'Too many new passwords by this link; wait a while and try again'
    if ((await linkOf(purpose, token)) === undefined) throw invalidLink()
    const worked = await tryOnce(rates, windows, message, async () => {
      // It may have been used while this try waited for its turn.
      if ((await linkOf(purpose, token)) === undefined) return false
      await work()
      return true
    })
    if (!worked) throw invalidLink()
  }

  async function prepared({ username, password }: NewAccount): Promise<{ username: string; hash: string }> {
    const name = parseUsername(username)
    await assertStrong(password, [name])
    return { username: name, hash: await hashPassword(password) }
  }

  async function add(
    trx: Db,
    account: { username: string; hash: string },
    is_admin: 0 | 1,
  ): Promise<AccountId> {
    const now = clock.now()
    const id = await insertAccount(trx, random, { username: account.username, created_at: now, is_admin })
    await setPassword(trx, id, account.hash, now)
    return id
  }

  async function unlessTaken(username: string, work: (trx: Db) => Promise<void>): Promise<void> {
    try {
      await inTransaction(db, work)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new Refusal('DUPLICATE_NAME', `An account "${username.toLowerCase()}" already exists`)
    }
  }

  async function joinNow(account: NewAccount, invitation: string | null): Promise<void> {
    const ready = await prepared(account)
    await unlessTaken(ready.username, async (trx) => {
      const link =
        invitation === null ? null : await takeLink(trx, hashToken(invitation), 'invitation', clock.now())
      if (mode === 'invitation' && link === undefined) throw invalidLink()
      await add(trx, ready, 0)
    })
  }

  return {
    async join(account, invitation, from) {
      assertOpen(mode)
      if (mode === 'invitation') {
        if (invitation === null) throw invitationNeeded()
        return byLink('invitation', invitation, () => joinNow(account, invitation))
      }
      await counted(from)
      await joinNow(account, invitation)
    },

    async first(account, token, from) {
      await byLink('welcome', token, async () => {
        const ready = await prepared(account)
        await unlessTaken(ready.username, async (trx) => {
          await lockMigrations(trx)
          const link = await takeLink(trx, hashToken(token), 'welcome', clock.now())
          if (link === undefined || (await hasAdmin(trx))) throw invalidLink()
          await dropLinks(trx, 'welcome', 'all')
          const id = await add(trx, ready, 1)
          const { username } = ready
          const themselves = { kind: 'administrator', account: id, username, address: from.address } as const
          await noteDeed(trx, clock, themselves, { act: 'admin.made', object: username })
        })
      })
    },

    async setPassword(token, password) {
      const hashed = hashToken(token)
      const link = await findLink(db, hashed, 'password', clock.now())
      if (link === undefined || link.account_id === null) throw invalidLink()
      const account = link.account_id
      const found = await findAccount(db, account)
      if (found === undefined) throw invalidLink()
      await byLink('password', token, async () => {
        await assertStrong(password, [found.username])
        const hash = await hashPassword(password)
        await inTransaction(db, async (trx) => {
          if ((await takeLink(trx, hashed, 'password', clock.now())) === undefined) throw invalidLink()
          await setPassword(trx, account, hash, clock.now())
          await dropLinks(trx, 'password', account)
          await endSessions(trx, account, null)
          await outbox.tell(trx, account, 'password changed')
        })
      })
      return found.username
    },

    async joinBySubject(subject, wanted) {
      if ((await findSubject(db, subject)) !== null) return
      assertOpen(mode)
      for (const username of names(wanted, random)) {
        try {
          await inTransaction(db, async (trx) => {
            const now = clock.now()
            const id = await insertAccount(trx, random, { username, created_at: now })
            await insertSubject(trx, id, subject, now)
          })
          return
        } catch (error) {
          if (!isUniqueViolation(error)) throw error
          // Another request of the same person may have been faster.
          if ((await findSubject(db, subject)) !== null) return
        }
      }
      throw new Refusal('DUPLICATE_NAME', 'No free user name was found for you; try again')
    },
  }
}

const MOST_NAMES = 20
/** Of what another server says somebody is called. */
const LONGEST_WANTED = 200

/** What an account may be called: as its owner wants, or nearly so. */
function* names(wanted: string, random: Random): Generator<string> {
  const [first = ''] = wanted.slice(0, LONGEST_WANTED).split('@', 1)
  const fitting = first
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-')
    .slice(0, 26)
  if (fitting.length >= 3) yield fitting
  for (let tries = 0; tries < MOST_NAMES; tries++) {
    yield `${fitting || 'user'}-${Buffer.from(random(2)).toString('hex')}`
  }
}
