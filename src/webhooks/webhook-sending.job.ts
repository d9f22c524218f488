import { createHmac } from 'node:crypto'
import type { WebhookEvent } from '../contract/events.ts'
import { eventFields } from '../core/link-events.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, HOUR, MINUTE, SECOND, sleep, timestamp } from '../domain/clock.ts'
import type { AccountId, WebhookId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { type DeliveryFailure, type DisablingReason, parseWebhookSecret } from '../domain/webhook.ts'
import type { WebhookAnswer, WebhookSender } from './webhook-request.ts'
import {
  claimDelivery,
  type DueDelivery,
  dropOldDeliveries,
  dueDeliveries,
  endDeliveries,
  findWebhook,
  isAnyDue,
  restDeliveries,
  settleDelivery,
  updateWebhook,
  type WebhookRow,
} from './webhooks.rows.ts'

/** Concurrent requests, in all and of one account; of one webhook, one: a slow receiver delays only its own account. */
const AT_ONCE = 32
const OF_ACCOUNT = 4
/** Longer than a request may take, so that a stalled node does not send it a second time. */
const CLAIMED_FOR = MINUTE
/** Delays between the attempts of one event: eleven within about a day. */
const WAITS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  6 * HOUR,
  12 * HOUR,
]
/** Backoff of a webhook after its first failure in a row, and its longest: other events need not fail too. */
const [FIRST_REST, LONGEST_REST] = [5 * SECOND, 5 * MINUTE]
/** A webhook is disabled when an event failed for good, and nothing has succeeded for so long. */
const DEAD_FOR = DAY
const GONE = 410
const KEPT_FOR = 7 * DAY
const STEP = 200

export interface WebhookSendingParts {
  readonly db: Database
  readonly clock: Clock
  readonly random: Random
  readonly sender: WebhookSender
  readonly publicUrl: () => string
  readonly userAgent: string
  readonly disabled: (trx: Trx, webhook: WebhookRow, reason: DisablingReason) => Promise<void>
}

/** Sends the outbox of webhooks, each event at least once. */
export class WebhookSending {
  readonly #parts: WebhookSendingParts
  readonly #stopping = new AbortController()
  readonly #busy = new Map<WebhookId, AccountId>()

  constructor(parts: WebhookSendingParts) {
    this.#parts = parts
  }

  hasWork(): Promise<boolean> {
    return isAnyDue(this.#parts.db, this.#parts.clock.now())
  }

  async run(mayGoOn: () => boolean): Promise<void> {
    const running = new Set<Promise<void>>()
    const failures: unknown[] = []
    for (;;) {
      const room = AT_ONCE - running.size
      const isOver = !mayGoOn() || this.#stopping.signal.aborted || failures.length > 0
      for (const delivery of isOver || room === 0 ? [] : await this.#due(room)) {
        this.#busy.set(delivery.webhook_id, delivery.account_id)
        const sending = this.#attempt(delivery)
          .catch((error: unknown) => failures.push(error))
          .then(() => {
            this.#busy.delete(delivery.webhook_id)
            running.delete(sending)
          })
        running.add(sending)
      }
      if (running.size === 0) break
      // New due deliveries do not wait for a slow receiver.
      await Promise.race([...running, sleep(this.#parts.clock.timers, SECOND)])
    }
    if (failures.length > 0) throw failures[0]
  }

  stop(): void {
    this.#stopping.abort()
  }

  async forgetOld(mayGoOn: () => boolean): Promise<void> {
    const before = this.#parts.clock.now() - KEPT_FOR
    while (mayGoOn() && (await dropOldDeliveries(this.#parts.db, before, STEP)) === STEP);
  }

  /** Of each webhook the longest due. Accounts take turns: those without a request in progress come first. */
  async #due(room: number): Promise<DueDelivery[]> {
    const { db, clock } = this.#parts
    const chosen: DueDelivery[] = []
    const busy = new Map(this.#busy)
    for (let most = 1; most <= OF_ACCOUNT; most++) {
      while (chosen.length < room) {
        const others = { webhooks: [...busy.keys()], accounts: accountsWith(busy, most) }
        const due = await dueDeliveries(db, clock.now(), others, AT_ONCE)
        if (due.length === 0) break
        for (const delivery of due) {
          const { webhook_id: webhook, account_id: account } = delivery
          const isTurn = !busy.has(webhook) && !accountsWith(busy, most).includes(account)
          if (!isTurn || chosen.length === room) continue
          busy.set(webhook, account)
          chosen.push(delivery)
        }
      }
    }
    return chosen
  }

  async #attempt(delivery: DueDelivery): Promise<void> {
    const { db, clock } = this.#parts
    const claimed = clock.now() + CLAIMED_FOR
    if (!(await claimDelivery(db, delivery, claimed))) return
    const answer = await this.#send(delivery)
    if (answer === null) {
      const change = { due_at: clock.now() }
      await inTransaction(db, (trx) => settleDelivery(trx, delivery.id, claimed, change))
      return
    }
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, delivery.account_id)
      await this.#settle(trx, delivery, claimed, answer)
    })
  }

  /** Null when the server stops meanwhile. */
  async #send(delivery: DueDelivery): Promise<WebhookAnswer | null> {
    const { clock, sender, publicUrl, userAgent } = this.#parts
    const body = eventBody(delivery, publicUrl())
    const signed = webhookHeaders(delivery.secret, eventIdOf(delivery), clock.now(), body)
    const headers = { 'Content-Type': 'application/json', 'User-Agent': userAgent, ...signed }
    const { url, tries } = delivery
    const { signal } = this.#stopping
    return sender.post({ url, headers, body, tries, signal }).catch((error: unknown) => {
      if (signal.aborted) return null
      throw error
    })
  }

  async #settle(trx: Trx, delivery: DueDelivery, claimed: number, answer: WebhookAnswer): Promise<void> {
    const now = this.#parts.clock.now()
    const { id, webhook_id: webhook } = delivery
    const status = answer.kind === 'answered' ? answer.status : null
    if (status !== null && status >= 200 && status < 300) {
      const over = { due_at: null, delivered_at: now, status, failure: null }
      await settleDelivery(trx, id, claimed, over)
      await updateWebhook(trx, webhook, { failures: 0, failing_since: null, rest_until: 0 })
      return
    }
    const failure: DeliveryFailure = answer.kind === 'failed' ? answer.failure : 'status'
    const wait = WAITS[delivery.tries]
    const due_at = wait === undefined ? null : now + this.#jittered(wait)
    const change = { due_at, tries: delivery.tries + 1, status, failure }
    if (!(await settleDelivery(trx, id, claimed, change))) return
    const row = await findWebhook(trx, delivery.account_id, webhook)
    if (row === undefined) return
    const failingSince = row.failing_since ?? now
    const isDead = due_at === null && now - failingSince >= DEAD_FOR
    if (status === GONE || isDead) return this.#disable(trx, row, status === GONE ? 'gone' : 'failing', now)
    const rest = now + Math.min(LONGEST_REST, FIRST_REST * 2 ** Math.min(row.failures, 20))
    const failing = { failures: row.failures + 1, failing_since: failingSince, rest_until: rest }
    await updateWebhook(trx, webhook, failing)
    await restDeliveries(trx, webhook, rest)
  }

  async #disable(trx: Trx, webhook: WebhookRow, reason: DisablingReason, now: number): Promise<void> {
    await updateWebhook(trx, webhook.id, { disabled_at: now })
    await endDeliveries(trx, webhook.id)
    await this.#parts.disabled(trx, webhook, reason)
  }

  /** Up to a tenth more, so that deliveries that failed together do not retry together. */
  #jittered(wait: number): number {
    return Math.round(wait * (1 + (this.#parts.random(1)[0] ?? 0) / 2550))
  }
}

function accountsWith(busy: ReadonlyMap<WebhookId, AccountId>, least: number): AccountId[] {
  const counts = new Map<AccountId, number>()
  for (const account of busy.values()) counts.set(account, (counts.get(account) ?? 0) + 1)
  return [...counts].flatMap(([account, count]) => (count >= least ? [account] : []))
}

/** Headers by https://www.standardwebhooks.com. `at`: milliseconds since the epoch. */
export function webhookHeaders(
  secret: string,
  id: string,
  at: number,
  body: string,
): Readonly<Record<string, string>> {
  const seconds = Math.floor(at / 1000)
  const key = parseWebhookSecret(secret)
  if (key === null) throw new Error('a stored secret of a webhook has another form')
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  }
}

export function eventIdOf({ uid }: Pick<DueDelivery, 'uid'>): string {
  return `evt_${uid}`
}

/** Equal for every attempt: an event never changes. */
export function eventBody(event: DueDelivery, publicUrl: string): string {
  const { kind, at, link } = event
  const body: WebhookEvent = {
    type: kind,
    timestamp: timestamp(at),
    data: {
      link: link === null ? null : { slug: link, url: `${publicUrl}/l/${link}` },
      ...eventFields(event),
    },
  }
  return JSON.stringify(body)
}
