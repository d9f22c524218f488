import { isIP } from 'node:net'
import { type AccountCaller, assertScope } from '../core/callers.ts'
import { insertEvent } from '../core/link-events.rows.ts'
import { countTry } from '../core/rate-limits/attempts.ts'
import type { RateLimits } from '../core/rate-limits/rate-limits.ts'
import { countWaiting, MOST_WAITING_DELIVERIES, queueDelivery } from '../core/webhook-outbox.rows.ts'
import type { Database, Trx } from '../database/database.ts'
import { lockAccount } from '../database/differences.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, HOUR } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { EventKind } from '../domain/event-kinds.ts'
import type { WebhookDeliveryId, WebhookId } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import {
  formatWebhookSecret,
  MOST_WEBHOOKS,
  parseWebhookSecret,
  parseWebhookUrl,
  SECRET_LENGTH,
} from '../domain/webhook.ts'
import { isPublicAddress } from './webhook-request.ts'
import {
  countDeliveries,
  type DeliveryRow,
  dropWebhook,
  endDeliveries,
  findDelivery,
  findWebhook,
  insertWebhook,
  listDeliveries,
  listWebhooks,
  redirectDeliveries,
  updateDelivery,
  updateWebhook,
  type WebhookRow,
} from './webhooks.rows.ts'

export interface WebhookTerms {
  readonly url?: string
  /** Null: all. */
  readonly kinds?: readonly EventKind[] | null
  readonly isEnabled?: boolean
}

export interface WantedWebhook {
  readonly url: string
  readonly kinds: readonly EventKind[] | null
  readonly secret: string | null
}

const NO_FAILURES = { failures: 0, failing_since: null, rest_until: 0 } as const

/** Tests and replays of an account in an hour. */
const MOST_BY_HAND = 100

interface WebhooksParts {
  readonly db: Database
  readonly rates: RateLimits
  readonly clock: Clock
  readonly random: Random
  readonly anyNetwork: boolean
}

/**
 * Webhooks of an account. They report everything in it: callers restricted to one folder see none, and setting the
 * address needs the scope `read` too. All methods throw Refusal NOT_FOUND for a webhook out of reach.
 */
export class Webhooks {
  readonly #parts: WebhooksParts

  constructor(parts: WebhooksParts) {
    this.#parts = parts
  }

  async list(caller: AccountCaller): Promise<WebhookRow[]> {
    return caller.within === null ? listWebhooks(this.#parts.db, caller.account) : []
  }

  get(caller: AccountCaller, id: WebhookId): Promise<WebhookRow> {
    return this.#find(caller, id)
  }

  /** Throws Refusal INVALID_REQUEST for an unusable address or secret, or too many webhooks, and SCOPE_MISSING. */
  async add(caller: AccountCaller, { url, kinds, secret }: WantedWebhook): Promise<WebhookRow> {
    assertScope(caller, 'read')
    if (caller.within !== null) throw onlyFolder()
    const { db, random, clock, anyNetwork } = this.#parts
    const { account } = caller
    const row = {
      account_id: account,
      url: checkedUrl(url, anyNetwork),
      secret: secret === null ? formatWebhookSecret(random(SECRET_LENGTH)) : checkedSecret(secret),
      kinds: kindsOf(kinds),
      created_at: clock.now(),
    }
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, account)
      if ((await listWebhooks(trx, account)).length >= MOST_WEBHOOKS) {
        throw new Refusal('INVALID_REQUEST', `An account has ${MOST_WEBHOOKS} webhooks at most; remove one`)
      }
      return this.#find(caller, await insertWebhook(trx, row), trx)
    })
  }

  /** A new address gets pending deliveries at once; disabling drops them. Throws INVALID_REQUEST, SCOPE_MISSING. */
  async change(
    caller: AccountCaller,
    id: WebhookId,
    { url, kinds, isEnabled }: WebhookTerms,
  ): Promise<WebhookRow> {
    const { db, clock, anyNetwork } = this.#parts
    await this.#find(caller, id)
    assertScope(caller, 'read')
    const change = {
      ...(url === undefined ? {} : { url: checkedUrl(url, anyNetwork) }),
      ...(kinds === undefined ? {} : { kinds: kindsOf(kinds) }),
      ...(isEnabled === true ? { disabled_at: null, ...NO_FAILURES } : {}),
    }
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, caller.account)
      const { url: before, disabled_at } = await this.#find(caller, id, trx)
      const isElsewhere = change.url !== undefined && change.url !== before
      const whole = isElsewhere ? { ...change, ...NO_FAILURES } : change
      if (Object.keys(whole).length > 0) await updateWebhook(trx, id, whole)
      if (isElsewhere) await redirectDeliveries(trx, id, clock.now())
      if (isEnabled === false && disabled_at === null) {
        await updateWebhook(trx, id, { disabled_at: clock.now() })
        await endDeliveries(trx, id)
      }
      return this.#find(caller, id, trx)
    })
  }

  async remove(caller: AccountCaller, id: WebhookId): Promise<void> {
    await this.#find(caller, id)
    await dropWebhook(this.#parts.db, id)
  }

  /** Throws Refusal RATE_LIMITED, or INVALID_REQUEST for a webhook that is disabled or has too much pending. */
  test(caller: AccountCaller, id: WebhookId): Promise<DeliveryRow> {
    return this.#byHand(caller, id, async (trx, now) => {
      const event = { account: caller.account, link: null, kind: 'webhook.test', at: now } as const
      const delivery = await queueDelivery(trx, id, await insertEvent(trx, event), { now, due: now })
      return findOwnDelivery(trx, id, delivery)
    })
  }

  async deliveries(
    caller: AccountCaller,
    id: WebhookId,
    page: number,
    perPage: number,
  ): Promise<{ readonly deliveries: readonly DeliveryRow[]; readonly total: number }> {
    const { db } = this.#parts
    await this.#find(caller, id)
    return {
      deliveries: await listDeliveries(db, id, (page - 1) * perPage, perPage),
      total: await countDeliveries(db, id),
    }
  }

  /** Sends an event again under its id. Throws Refusal as `test` does. */
  replay(caller: AccountCaller, id: WebhookId, delivery: WebhookDeliveryId): Promise<DeliveryRow> {
    return this.#byHand(caller, id, async (trx, now) => {
      const { due_at } = await findOwnDelivery(trx, id, delivery)
      // A pending delivery is not restarted.
      if (due_at === null) {
        const again = { tries: 0, delivered_at: null, status: null, failure: null }
        await updateDelivery(trx, delivery, { due_at: now, queued_at: now, ...again })
      }
      return findOwnDelivery(trx, id, delivery)
    })
  }

  async #find(
    caller: AccountCaller,
    id: WebhookId,
    from: Database | Trx = this.#parts.db,
  ): Promise<WebhookRow> {
    const row = caller.within === null ? await findWebhook(from, caller.account, id) : undefined
    if (row === undefined) throw new Refusal('NOT_FOUND', 'There is no such webhook')
    return row
  }

  /** With the account locked. */
  async #byHand<T>(
    caller: AccountCaller,
    id: WebhookId,
    work: (trx: Trx, now: number) => Promise<T>,
  ): Promise<T> {
    const { db, rates, clock } = this.#parts
    await this.#find(caller, id)
    const windows = [{ subject: `webhooks-by-hand:${caller.account}`, limit: MOST_BY_HAND, length: HOUR }]
    await countTry(rates, windows, 'Too many tests and repetitions; wait a while and try again')
    return inTransaction(db, async (trx) => {
      await lockAccount(trx, caller.account)
      const { disabled_at } = await this.#find(caller, id, trx)
      if (disabled_at !== null) {
        throw new Refusal('INVALID_REQUEST', 'This webhook is disabled; enable it first')
      }
      if ((await countWaiting(trx, id)) >= MOST_WAITING_DELIVERIES) {
        throw new Refusal('INVALID_REQUEST', 'Too much waits to be sent to this webhook')
      }
      return work(trx, clock.now())
    })
  }
}

async function findOwnDelivery(trx: Trx, webhook: WebhookId, id: WebhookDeliveryId): Promise<DeliveryRow> {
  const row = await findDelivery(trx, webhook, id)
  if (row === undefined) throw new Refusal('NOT_FOUND', 'There is no such delivery')
  return row
}

function kindsOf(kinds: readonly EventKind[] | null): string {
  return kinds === null ? '' : [...new Set(kinds)].join(' ')
}

function checkedUrl(text: string, anyNetwork: boolean): string {
  const url = parseWebhookUrl(text)
  if (url === null) {
    throw new Refusal(
      'INVALID_REQUEST',
      '"url": must be an http or https address of 2,000 characters at most, without user and password, at port 80, 443 or one from 1024 up',
    )
  }
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
  if (anyNetwork || isIP(host) === 0 || isPublicAddress(host)) return url
  throw new Refusal('INVALID_REQUEST', '"url": this server sends nothing to addresses in private networks')
}

function onlyFolder(): Refusal {
  return new Refusal(
    'SCOPE_MISSING',
    'This API key is for one folder, and webhooks tell of the whole account; use another key',
  )
}

function checkedSecret(text: string): string {
  if (parseWebhookSecret(text) !== null) return text
  throw new Refusal('INVALID_REQUEST', '"secret": must be "whsec_" and 24 to 64 bytes in base64')
}
