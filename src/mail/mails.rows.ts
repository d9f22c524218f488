import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { Row } from '../database/schema.ts'
import type { AccountId, MailId } from '../domain/ids.ts'

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
