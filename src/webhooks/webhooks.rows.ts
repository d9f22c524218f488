import type { Insertable, Updateable } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import type { Row, Tables } from '../database/schema.ts'
import type { AccountId, WebhookId } from '../domain/ids.ts'

const columns = [
  'id',
  'account_id',
  'url',
  'secret',
  'kinds',
  'created_at',
  'failures',
  'failing_since',
  'disabled_at',
] as const

export type WebhookRow = Row<'webhooks', (typeof columns)[number]>

export function listWebhooks(db: Queryable, account: AccountId): Promise<WebhookRow[]> {
  return db.selectFrom('webhooks').select(columns).where('account_id', '=', account).orderBy('id').execute()
}

export function findWebhook(
  db: Queryable,
  account: AccountId,
  id: WebhookId,
): Promise<WebhookRow | undefined> {
  return db
    .selectFrom('webhooks')
    .select(columns)
    .where('id', '=', id)
    .where('account_id', '=', account)
    .executeTakeFirst()
}

export async function insertWebhook(
  trx: Trx,
  webhook: Omit<Insertable<Tables['webhooks']>, 'id'>,
): Promise<WebhookId> {
  return (await trx.insertInto('webhooks').values(webhook).returning('id').executeTakeFirstOrThrow()).id
}

export async function updateWebhook(
  trx: Trx,
  id: WebhookId,
  change: Omit<Updateable<Tables['webhooks']>, 'id' | 'account_id' | 'created_at'>,
): Promise<void> {
  await trx.updateTable('webhooks').set(change).where('id', '=', id).execute()
}

export async function dropWebhook(db: Database, id: WebhookId): Promise<void> {
  await db.deleteFrom('webhooks').where('id', '=', id).execute()
}
