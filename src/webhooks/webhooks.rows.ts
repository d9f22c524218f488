import { type Insertable, sql, type Updateable } from 'kysely'
import type { EventColumns } from '../core/link-events.rows.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { Row, Tables } from '../database/schema.ts'
import type { StoredEventKind } from '../domain/event-kinds.ts'
import type { AccountId, LinkSlug, WebhookDeliveryId, WebhookId } from '../domain/ids.ts'
import type { DeliveryFailure } from '../domain/webhook.ts'

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

export interface DeliveryRow {
  readonly id: WebhookDeliveryId
  readonly uid: string
  readonly kind: StoredEventKind
  readonly at: number
  readonly tries: number
  readonly due_at: number | null
  readonly delivered_at: number | null
  readonly status: number | null
  readonly failure: DeliveryFailure | null
}

export interface DueDelivery extends DeliveryRow, EventColumns {
  readonly due_at: number
  readonly queued_at: number
  readonly webhook_id: WebhookId
  readonly url: string
  readonly secret: string
  readonly account_id: AccountId
  readonly link: LinkSlug | null
}

const deliveryColumns = [
  'webhook_deliveries.id',
  'link_events.uid',
  'link_events.kind',
  'link_events.at',
  'webhook_deliveries.tries',
  'webhook_deliveries.due_at',
  'webhook_deliveries.delivered_at',
  'webhook_deliveries.status',
  'webhook_deliveries.failure',
] as const

const deliveries = (db: Queryable) =>
  db
    .selectFrom('webhook_deliveries')
    .innerJoin('link_events', 'link_events.id', 'webhook_deliveries.event_id')

export async function isAnyDue(db: Database, now: number): Promise<boolean> {
  return (await oneDue(db, now)).length > 0
}

const oneDue = prepared((db, now: number) =>
  db
    .selectFrom('webhook_deliveries')
    .innerJoin('webhooks', 'webhooks.id', 'webhook_deliveries.webhook_id')
    .innerJoin('accounts', 'accounts.id', 'webhooks.account_id')
    .select('webhook_deliveries.id')
    .where('webhook_deliveries.due_at', '<=', now)
    .where('accounts.disabled_at', 'is', null)
    .limit(sql.lit(1)),
)

/** The longest due, without these webhooks and accounts. Deliveries of a disabled account wait until it is enabled. */
export function dueDeliveries(
  db: Database,
  now: number,
  {
    webhooks,
    accounts,
  }: { readonly webhooks: readonly WebhookId[]; readonly accounts: readonly AccountId[] },
  limit: number,
): Promise<DueDelivery[]> {
  const due = deliveries(db)
    .innerJoin('webhooks', 'webhooks.id', 'webhook_deliveries.webhook_id')
    .innerJoin('accounts', 'accounts.id', 'webhooks.account_id')
    .leftJoin('links', 'links.id', 'link_events.link_id')
    .select(deliveryColumns)
    .select([
      'webhook_deliveries.queued_at',
      'webhook_deliveries.webhook_id',
      'webhooks.url',
      'webhooks.secret',
      'webhooks.account_id',
      'links.slug as link',
      'link_events.file_id',
      'link_events.file_name',
      'link_events.bytes',
      'link_events.times',
      'link_events.reason',
      'link_events.address',
    ])
    .select((row) => row.ref('webhook_deliveries.due_at').$notNull().as('due_at'))
    .where('webhook_deliveries.due_at', '<=', now)
    .where('accounts.disabled_at', 'is', null)
    .orderBy('webhook_deliveries.due_at')
    .orderBy('webhook_deliveries.id')
    .limit(limit)
  const others = webhooks.length === 0 ? due : due.where('webhook_deliveries.webhook_id', 'not in', webhooks)
  return (accounts.length === 0 ? others : others.where('webhooks.account_id', 'not in', accounts)).execute()
}

/** False when another node has claimed the delivery, or it is over. */
export async function claimDelivery(
  db: Database,
  { id, due_at }: DueDelivery,
  until: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_deliveries')
    .set({ due_at: until })
    .where('id', '=', id)
    .where('due_at', '=', due_at)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

type Delivery = Row<'webhook_deliveries'>
export type DeliveryChange = Pick<Delivery, 'due_at'> & Partial<Delivery>

export async function updateDelivery(trx: Trx, id: WebhookDeliveryId, change: DeliveryChange): Promise<void> {
  await trx.updateTable('webhook_deliveries').set(change).where('id', '=', id).execute()
}

/** As `updateDelivery`. False when the claim until `claimed` is over, or the delivery was ended. */
export async function settleDelivery(
  trx: Trx,
  id: WebhookDeliveryId,
  claimed: number,
  change: DeliveryChange,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('webhook_deliveries')
    .set(change)
    .where('id', '=', id)
    .where('due_at', '=', claimed)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Delays all pending deliveries of the webhook until at least then. */
export async function restDeliveries(trx: Trx, webhook: WebhookId, until: number): Promise<void> {
  await trx
    .updateTable('webhook_deliveries')
    .set({ due_at: until })
    .where('webhook_id', '=', webhook)
    .where('due_at', '<', until)
    .execute()
}

/**
 * Makes all pending deliveries due, with all their attempts. Each gets another time than before, so that a node that
 * has read or claimed it with the webhook's former address neither sends it there nor settles it.
 */
export async function redirectDeliveries(trx: Trx, webhook: WebhookId, now: number): Promise<void> {
  await trx
    .updateTable('webhook_deliveries')
    .set({
      due_at: sql<number>`CASE WHEN due_at > ${now} THEN ${now} ELSE due_at - 1 END`,
      ...{ tries: 0, status: null, failure: null },
    })
    .where('webhook_id', '=', webhook)
    .where('due_at', 'is not', null)
    .execute()
}

export async function endDeliveries(trx: Trx, webhook: WebhookId): Promise<void> {
  await trx
    .updateTable('webhook_deliveries')
    .set({ due_at: null, failure: 'disabled' })
    .where('webhook_id', '=', webhook)
    .where('due_at', 'is not', null)
    .execute()
}

export function listDeliveries(
  db: Database,
  webhook: WebhookId,
  offset: number,
  limit: number,
): Promise<DeliveryRow[]> {
  return deliveries(db)
    .select(deliveryColumns)
    .where('webhook_deliveries.webhook_id', '=', webhook)
    .orderBy('webhook_deliveries.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
}

export async function countDeliveries(db: Queryable, webhook: WebhookId): Promise<number> {
  const { count } = await db
    .selectFrom('webhook_deliveries')
    .select((delivery) => delivery.fn.countAll<number>().as('count'))
    .where('webhook_id', '=', webhook)
    .executeTakeFirstOrThrow()
  return count
}

export function findDelivery(
  db: Queryable,
  webhook: WebhookId,
  id: WebhookDeliveryId,
): Promise<DeliveryRow | undefined> {
  return deliveries(db)
    .select(deliveryColumns)
    .where('webhook_deliveries.id', '=', id)
    .where('webhook_deliveries.webhook_id', '=', webhook)
    .executeTakeFirst()
}

/** Finished deliveries queued before `time`; returns how many. */
export async function dropOldDeliveries(db: Database, time: number, most: number): Promise<number> {
  const old = db
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('due_at', 'is', null)
    .where('queued_at', '<', time)
    .orderBy(sql`queued_at`)
    .limit(most)
  const { numDeletedRows } = await db
    .deleteFrom('webhook_deliveries')
    .where('id', 'in', old)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
