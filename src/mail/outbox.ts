import { sql } from 'kysely'
import { findAccount } from '../core/accounts.rows.ts'
import type { MailContent } from '../core/mail-content.ts'
import type { Database, Trx } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { Row } from '../database/schema.ts'
import type { Language } from '../domain/account.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import type { AccountId, MailId } from '../domain/ids.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import type { Random } from '../domain/random.ts'
import { findMailAddress } from './mail-addresses.rows.ts'

export type MailNotice = 'password changed' | 'address changed' | 'address removed'

export interface EndableMails {
  readonly outbox: Outbox
  readonly unsubscribePath: (account: AccountId) => string
}

const NOTICE_LASTS = 3 * DAY

/**
 * Transactional outbox: a mail is inserted in the transaction that causes it, and sent afterwards, at least
 * once. Without `from`, no mails are sent.
 */
export function createOutbox(clock: Clock, random: Random, from: MailAddress | null) {
  const host = from?.split('@').at(-1)

  /** `lasts`: milliseconds after which the mail is useless. */
  async function put(
    trx: Trx,
    mail: {
      readonly account: AccountId
      readonly to: MailAddress
      readonly language: Language
      readonly content: MailContent
      readonly lasts: number
    },
  ): Promise<void> {
    if (from === null) return
    const now = clock.now()
    await insertMail(trx, {
      message_id: `<${Buffer.from(random(16)).toString('hex')}@${host}>`,
      account_id: mail.account,
      recipient: mail.to,
      language: mail.language,
      letter: JSON.stringify(mail.content),
      created_at: now,
      ends_at: now + mail.lasts,
      due_at: now,
    })
  }

  return {
    /** Whether mails are sent. If not, none are inserted. */
    isOpen: from !== null,

    put,

    async notify(trx: Trx, account: AccountId, kind: MailNotice): Promise<void> {
      const address = await findMailAddress(trx, account)
      const owner = await findAccount(trx, account)
      if (address === undefined || address.address === null || owner === undefined) return
      await put(trx, {
        account,
        to: address.address,
        language: address.language,
        content: { kind, username: owner.username },
        lasts: NOTICE_LASTS,
      })
    },
  }
}

export type Outbox = ReturnType<typeof createOutbox>

export type MailRow = Row<'mails'>

export async function insertMail(trx: Trx, mail: Omit<MailRow, 'id' | 'tries'>): Promise<void> {
  await trx.insertInto('mails').values(mail).execute()
}

export async function nextMail(db: Database, now: number): Promise<MailRow | undefined> {
  return (await next(db, now, now))[0]
}

const next = prepared((db, dueBy: number, after: number) =>
  db
    .selectFrom('mails')
    .selectAll()
    .where('due_at', '<=', dueBy)
    .where('ends_at', '>', after)
    .orderBy('due_at')
    .orderBy('id')
    .limit(sql.lit(1)),
)

/** False when another node has claimed the mail first. */
export async function claimMail(db: Database, { id, due_at }: MailRow, until: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('mails')
    .set({ due_at: until })
    .where('id', '=', id)
    .where('due_at', '=', due_at)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function postponeMail(db: Database, id: MailId, due_at: number, tries: number): Promise<void> {
  await db.updateTable('mails').set({ due_at, tries }).where('id', '=', id).execute()
}

export async function dropMail(db: Database, id: MailId): Promise<void> {
  await db.deleteFrom('mails').where('id', '=', id).execute()
}

export async function dropMailsOf(trx: Trx, account: AccountId): Promise<void> {
  await trx.deleteFrom('mails').where('account_id', '=', account).execute()
}

export async function dropMailsOver(db: Database, now: number): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('mails').where('ends_at', '<=', now).executeTakeFirst()
  return Number(numDeletedRows)
}
