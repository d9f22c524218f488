import type { SignUp as Mode } from '../config.ts'
import { findAccount, findAccountByName, hasAdmin, insertAccount, setAdmin } from '../database/accounts.ts'
import { isUniqueViolation, lockMigrations } from '../database/differences.ts'
import { findSubject, insertSubject, setPassword } from '../database/identities.ts'
import { dropLinks, findLink, takeLink } from '../database/one-time-links.ts'
import type { Db, LinkPurpose } from '../database/schema.ts'
import { endSessions } from '../database/sessions.ts'
import { hashToken } from '../database/token-hash.ts'
import { inTransaction } from '../database/transactions.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { parseUsername } from '../domain/username.ts'
import { noteDeed } from './audit.ts'
import { assertOpen, invalidLink, invitationNeeded } from './one-time-links.ts'
import type { Outbox } from './outbox.ts'
import { assertStrong } from './password-strength.ts'
import { hashPassword } from './passwords.ts'

export interface NewAccount {
  readonly username: string
  readonly password: string
}

/** How people come to an account that they can sign in to. What fails has used up no link. */
export interface SignUp {
  /** Throws Refusal SIGN_UP_CLOSED, INVITATION_NEEDED, INVALID_LINK, INVALID_NAME, DUPLICATE_NAME or WEAK_PASSWORD. */
  join(account: NewAccount, invitation: string | null): Promise<void>
  /** The first administrator: of all who try at once one succeeds. `address`: where they are. Throws what `join` throws. */
  first(account: NewAccount, token: string, address: string): Promise<void>
  /** Sets the password that the link is for, ends the account's sessions, and tells its name. */
  setPassword(token: string, password: string): Promise<string>
  /** For the command line: makes the account an administrator, and makes it first if there is none of that name. Says whether it was made. */
  makeAdmin(username: string): Promise<boolean>
  /** The account of somebody another server knows, made when it is the first time. */
  joinBySubject(subject: string, wanted: string): Promise<void>
}

export function createSignUp(parts: {
  db: Db
  clock: Clock
  random: Random
  outbox: Outbox
  mode: Mode
}): SignUp {
  const { db, clock, random, outbox, mode } = parts

  async function assertWorks(purpose: LinkPurpose, token: string): Promise<void> {
    if ((await findLink(db, hashToken(token), purpose, clock.now())) === undefined) throw invalidLink()
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

  return {
    async join(account, invitation) {
      assertOpen(mode)
      if (mode === 'invitation') {
        if (invitation === null) throw invitationNeeded()
        await assertWorks('invitation', invitation)
      }
      const ready = await prepared(account)
      await unlessTaken(ready.username, async (trx) => {
        const link =
          invitation === null ? null : await takeLink(trx, hashToken(invitation), 'invitation', clock.now())
        if (mode === 'invitation' && link === undefined) throw invalidLink()
        await add(trx, ready, 0)
      })
    },

    async first(account, token, address) {
      // Before the password is hashed, which is dear.
      await assertWorks('welcome', token)
      const ready = await prepared(account)
      await unlessTaken(ready.username, async (trx) => {
        await lockMigrations(trx)
        const link = await takeLink(trx, hashToken(token), 'welcome', clock.now())
        if (link === undefined || (await hasAdmin(trx))) throw invalidLink()
        await dropLinks(trx, 'welcome', 'all')
        const id = await add(trx, ready, 1)
        const { username } = ready
        const themselves = { kind: 'administrator', account: id, username, address } as const
        await noteDeed(trx, clock, themselves, { act: 'admin.made', object: username })
      })
    },

    async setPassword(token, password) {
      const hashed = hashToken(token)
      const link = await findLink(db, hashed, 'password', clock.now())
      if (link === undefined || link.account_id === null) throw invalidLink()
      const account = link.account_id
      const found = await findAccount(db, account)
      if (found === undefined) throw invalidLink()
      await assertStrong(password, [found.username])
      const hash = await hashPassword(password)
      await inTransaction(db, async (trx) => {
        if ((await takeLink(trx, hashed, 'password', clock.now())) === undefined) throw invalidLink()
        await setPassword(trx, account, hash, clock.now())
        await dropLinks(trx, 'password', account)
        await endSessions(trx, account, null)
        await outbox.tell(trx, account, 'password changed')
      })
      return found.username
    },

    async makeAdmin(name) {
      const username = parseUsername(name)
      return inTransaction(db, async (trx) => {
        await lockMigrations(trx)
        await dropLinks(trx, 'welcome', 'all')
        const known = await findAccountByName(trx, username)
        if (known?.is_admin !== 1) {
          await noteDeed(trx, clock, COMMAND_LINE, { act: 'admin.made', object: username })
        }
        if (known !== undefined) {
          await setAdmin(trx, known.id)
          return false
        }
        await insertAccount(trx, random, { username, created_at: clock.now(), is_admin: 1 })
        return true
      })
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

/** What an account may be called: as its owner wants, or nearly so. */
function* names(wanted: string, random: Random): Generator<string> {
  const fitting = wanted
    .toLowerCase()
    .replace(/@.*$/, '')
    .replaceAll(/[^a-z0-9._-]/g, '-')
    .slice(0, 26)
  if (fitting.length >= 3) yield fitting
  for (let tries = 0; tries < MOST_NAMES; tries++) {
    yield `${fitting || 'user'}-${Buffer.from(random(2)).toString('hex')}`
  }
}
