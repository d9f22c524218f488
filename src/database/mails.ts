import type { AccountId, MailId } from '../domain/ids.ts'
import type { Language } from '../domain/language.ts'
import type { MailAddress } from '../domain/mail-address.ts'
import type { Db } from './schema.ts'

export interface MailRow {
  readonly id: MailId
  readonly message_id: string
  readonly account_id: AccountId
  readonly recipient: MailAddress
  readonly language: Language
  readonly letter: string
  readonly created_at: number
  readonly ends_at: number
  readonly due_at: number
  readonly tries: number
}

export async function insertMail(trx: Db, mail: Omit<MailRow, 'id' | 'tries'>): Promise<void> {
  await trx.insertInto('mails').values(mail).execute()
}

/** Of the mails that are still of use, the one that is due the longest. */
export function nextMail(db: Db, now: number): Promise<MailRow | undefined> {
  return db
    .selectFrom('mails')
    .selectAll()
    .where('due_at', '<=', now)
    .where('ends_at', '>', now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

/** Keeps everybody else from trying it until then. False when somebody was faster. */
export async function claimMail(db: Db, { id, due_at }: MailRow, until: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('mails')
    .set({ due_at: until })
    .where('id', '=', id)
    .where('due_at', '=', due_at)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function postponeMail(db: Db, id: MailId, due_at: number, tries: number): Promise<void> {
  await db.updateTable('mails').set({ due_at, tries }).where('id', '=', id).execute()
}

export async function dropMail(db: Db, id: MailId): Promise<void> {
  await db.deleteFrom('mails').where('id', '=', id).execute()
}

export async function dropMailsOf(trx: Db, account: AccountId): Promise<void> {
  await trx.deleteFrom('mails').where('account_id', '=', account).execute()
}

/** Removes what would be of no use any more; returns how many. */
export async function dropMailsOver(db: Db, now: number): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('mails').where('ends_at', '<=', now).executeTakeFirst()
  return Number(numDeletedRows)
}
