import type { Config } from '../config.ts'
import { findAccountByName, hasAdmin } from '../core/accounts.rows.ts'
import { recordAuditEntry } from '../core/audit-log.ts'
import { hashToken } from '../core/hmac.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { lockMigrations } from '../database/differences.ts'
import type { LinkPurpose, Row } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Actor, COMMAND_LINE } from '../domain/audit.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { AccountId, Sha256 } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'

export function createOneTimeLinks(
  db: Database,
  clock: Clock,
  make: CreateOneTimeLink,
  mode: Config['signUp'],
) {
  return {
    welcome: (): Promise<OneTimeLink | null> =>
      inTransaction(db, async (trx) => {
        await lockMigrations(trx)
        return (await hasAdmin(trx)) ? null : make(trx, 'welcome', null)
      }),

    /** Throws Refusal SIGN_UP_CLOSED where it could not be used. */
    async invitation(by: Actor): Promise<OneTimeLink> {
      assertOpen(mode)
      return inTransaction(db, async (trx) => {
        await recordAuditEntry(trx, clock, by, { act: 'invitation.made', object: null })
        return make(trx, 'invitation', by.kind === 'administrator' ? by.account : null)
      })
    },

    /** Sets an account's first or new password; replaces an earlier link. Throws Refusal NOT_FOUND. */
    async password(username: string): Promise<OneTimeLink> {
      const account = await findAccountByName(db, username.toLowerCase())
      if (account === undefined) {
        throw new Refusal('NOT_FOUND', `there is no account "${username}"; "account list" shows them all`)
      }
      return inTransaction(db, async (trx) => {
        await recordAuditEntry(trx, clock, COMMAND_LINE, { act: 'account.linked', object: account.username })
        return makePasswordLink(trx, make, account.id)
      })
    },

    works: async (purpose: LinkPurpose, token: string): Promise<boolean> =>
      (await findOneTimeLink(db, hashToken(token), purpose, clock.now())) !== undefined,
  }
}

export type OneTimeLinks = ReturnType<typeof createOneTimeLinks>

/** Throws Refusal SIGN_UP_CLOSED. */
export function assertOpen(mode: Config['signUp']): void {
  if (mode === 'closed')
    throw new Refusal(
      'SIGN_UP_CLOSED',
      'Sign-up is closed on this server; ask its administrators for an account',
    )
}

export function invitationNeeded(): Refusal {
  return new Refusal('INVITATION_NEEDED', 'You need an invitation from an administrator to sign up')
}

export function invalidLink(): Refusal {
  return new Refusal('INVALID_LINK', 'This link was used before, or is too old; ask for a new one')
}

export interface OneTimeLink {
  /** Its secret is not stored. */
  readonly path: string
  readonly expiresAt: number
}

const LASTS: Readonly<Record<LinkPurpose, number>> = {
  welcome: 30 * DAY,
  invitation: 7 * DAY,
  password: 7 * DAY,
  mail: DAY,
}

const PATHS: Readonly<Record<LinkPurpose, string>> = {
  welcome: '/welcome/',
  invitation: '/sign-up/',
  password: '/set-password/',
  mail: '/verify-mail/',
}

export type CreateOneTimeLink = (
  trx: Trx,
  purpose: LinkPurpose,
  account: AccountId | null,
  lasts?: number,
) => Promise<OneTimeLink>

/** `lasts`: milliseconds; defaults by purpose. */
export function oneTimeLinkCreator(clock: Clock, random: Random): CreateOneTimeLink {
  return async (trx, purpose, account, lasts = LASTS[purpose]) => {
    const token = Buffer.from(random(24)).toString('base64url')
    const now = clock.now()
    const expiresAt = now + lasts
    await dropExpiredOneTimeLinks(trx, now)
    await insertOneTimeLink(trx, {
      token_hash: hashToken(token),
      purpose,
      account_id: account,
      created_at: now,
      expires_at: expiresAt,
    })
    return { path: PATHS[purpose] + token, expiresAt }
  }
}

export async function makePasswordLink(
  trx: Trx,
  make: CreateOneTimeLink,
  account: AccountId,
): Promise<OneTimeLink> {
  await dropOneTimeLinks(trx, 'password', account)
  return make(trx, 'password', account)
}

export type OneTimeLinkRow = Row<'one_time_links'>

export async function insertOneTimeLink(db: Queryable, link: OneTimeLinkRow): Promise<void> {
  await db.insertInto('one_time_links').values(link).execute()
}

export function findOneTimeLink(
  db: Database,
  hash: Sha256,
  purpose: LinkPurpose,
  now: number,
): Promise<OneTimeLinkRow | undefined> {
  return db
    .selectFrom('one_time_links')
    .selectAll()
    .where('token_hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Consumes the link; undefined when it has expired or was used before. */
export function takeOneTimeLink(
  trx: Trx,
  hash: Sha256,
  purpose: LinkPurpose,
  now: number,
): Promise<OneTimeLinkRow | undefined> {
  return trx
    .deleteFrom('one_time_links')
    .where('token_hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
}

export async function dropOneTimeLinks(
  trx: Trx,
  purpose: LinkPurpose,
  account: AccountId | 'all',
): Promise<void> {
  const links = trx.deleteFrom('one_time_links').where('purpose', '=', purpose)
  await (account === 'all' ? links : links.where('account_id', '=', account)).execute()
}

export async function dropExpiredOneTimeLinks(db: Queryable, now: number): Promise<void> {
  await db.deleteFrom('one_time_links').where('expires_at', '<=', now).execute()
}
