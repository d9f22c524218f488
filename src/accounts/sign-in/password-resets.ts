import { sql } from 'kysely'
import { findAccount, findAccountByName } from '../../core/accounts.rows.ts'
import type { Core } from '../../core/core.ts'
import { countTry } from '../../core/rate-limits/attempts.ts'
import type { Database, Trx } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { inTransaction } from '../../database/transactions.ts'
import { HOUR } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { AccountId, ResetRequestId } from '../../domain/ids.ts'
import { foldMailAddress, type MailAddress, parseMailAddress } from '../../domain/mail-address.ts'
import { RAW_FACTOR } from '../../domain/text.ts'
import { findAccountByAddress, findMailAddress, type MailAddressRow } from '../../mail/mail-addresses.rows.ts'
import { dropMailsOver, type Outbox } from '../../mail/outbox.ts'
import type { CreateOneTimeLink } from '../one-time-links.ts'
import { findPassword } from './passwords.ts'

const REQUESTS_OF_ADDRESS = 10
const MAILS_OF_ACCOUNT = 3
/** Of the link, and of the mail in the outbox. */
const LASTS = HOUR
const LONGEST = 254

export function createPasswordResets({
  db,
  clock,
  rates,
  outbox,
  makeLink,
}: Pick<Core, 'db' | 'clock' | 'rates'> & {
  readonly outbox: Outbox
  readonly makeLink: CreateOneTimeLink
}) {
  /** Null for an unknown account, and for accounts that sign in through OpenID Connect. */
  async function recipient(asked: string): Promise<Recipient | null> {
    const id = asked.includes('@')
      ? await findAccountByAddress(db, asked)
      : (await findAccountByName(db, asked))?.id
    if (id === null || id === undefined) return null
    const [owner, mail] = [await findAccount(db, id), await findMailAddress(db, id)]
    if (owner === undefined || owner.disabled_at !== null || mail === undefined) return null
    if (mail.address === null || (await findPassword(db, id)) === null) return null
    const { allowed } = await rates.take(`forgotten-of:${id}`, 1, MAILS_OF_ACCOUNT, HOUR)
    return allowed
      ? { account: id, username: owner.username, to: mail.address, language: mail.language }
      : null
  }

  async function answer({ id, asked, created_at }: ResetRequestRow): Promise<void> {
    const isOver = created_at + LASTS <= clock.now()
    const somebody = isOver ? null : await recipient(asked)
    await inTransaction(db, async (trx) => {
      if (!(await takeResetRequest(trx, id)) || somebody === null) return
      const { username, ...whom } = somebody
      const { path } = await makeLink(trx, 'password', whom.account, LASTS)
      await outbox.put(trx, { ...whom, content: { kind: 'reset', username, path }, lasts: LASTS })
    })
  }

  return {
    /**
     * `asked`: user name or address. Does the same work for every input, so neither response nor timing reveals
     * whether an account exists. Throws Refusal MAIL_DISABLED or RATE_LIMITED.
     */
    async request(asked: string, bucket: string): Promise<void> {
      if (!outbox.isOpen) throw new Refusal('MAIL_DISABLED', 'This server sends no email')
      const windows = [{ subject: `forgotten:${bucket}`, limit: REQUESTS_OF_ADDRESS, length: HOUR }]
      await countTry(rates, windows, 'Too many requests for a new password; wait a while and try again')
      await insertResetRequest(db, nameOf(asked), clock.now())
    },

    hasWork: async (): Promise<boolean> => (await nextResetRequest(db)) !== undefined,

    /** Answers every request with a mail in the outbox. */
    async run(mayGoOn: () => boolean): Promise<void> {
      while (mayGoOn()) {
        const request = await nextResetRequest(db)
        if (request === undefined) break
        await answer(request)
      }
    },
  }
}

interface Recipient extends Pick<MailAddressRow, 'language'> {
  readonly account: AccountId
  readonly username: string
  readonly to: MailAddress
}

/** Normalizes, and removes control characters, which must not reach the database. */
function nameOf(asked: string): string {
  const plain = asked
    .slice(0, RAW_FACTOR * LONGEST)
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
  const address = parseMailAddress(plain)
  return address === null ? plain.slice(0, LONGEST).toLowerCase() : foldMailAddress(address)
}

/** Runs also where mail was switched off, to minimize stored data. */
export async function dropExpiredMails({
  db,
  clock,
  log,
}: Pick<Core, 'db' | 'clock' | 'log'>): Promise<void> {
  const now = clock.now()
  await dropResetRequests(db, now - HOUR)
  const mails = await dropMailsOver(db, now)
  if (mails > 0) log.warn({ mails }, 'mails could not be sent in time and were dropped')
}

interface ResetRequestRow {
  readonly id: ResetRequestId
  readonly asked: string
  readonly created_at: number
}

async function insertResetRequest(db: Database, asked: string, now: number): Promise<void> {
  await db.insertInto('reset_requests').values({ asked, created_at: now }).execute()
}

async function nextResetRequest(db: Database): Promise<ResetRequestRow | undefined> {
  return (await next(db))[0]
}

const next = prepared((db) => db.selectFrom('reset_requests').selectAll().orderBy('id').limit(sql.lit(1)))

async function dropResetRequests(db: Database, before: number): Promise<void> {
  await db.deleteFrom('reset_requests').where('created_at', '<', before).execute()
}

/** False when another node was first. */
async function takeResetRequest(trx: Trx, id: ResetRequestId): Promise<boolean> {
  const { numDeletedRows } = await trx.deleteFrom('reset_requests').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}
