import type { EventKind, StoredEventKind } from '../../../src/domain/link-event.ts'
import type { DeliveryFailure } from '../../../src/domain/webhook.ts'
import type { Plural } from '../../shared/words.ts'

/** What the page of webhooks says. */
export interface WebhooksTexts {
  readonly title: string
  readonly why: string
  readonly guide: string
  readonly empty: string
  readonly add: string
  readonly most: Plural
  readonly allEvents: string
  readonly kinds: Readonly<Record<StoredEventKind, string>>
  readonly inUse: string
  /** {time} */
  readonly failing: string
  /** {time} */
  readonly paused: string
  readonly test: string
  /** {url} */
  readonly testOf: string
  readonly testSent: string
  readonly pause: string
  /** {url} */
  readonly pauseOf: string
  readonly isPaused: string
  readonly resume: string
  /** {url} */
  readonly resumeOf: string
  readonly isResumed: string
  readonly change: string
  /** {url} */
  readonly changeOf: string
  readonly changed: string
  readonly remove: string
  /** {url} */
  readonly removeOf: string
  readonly removeWhy: string
  readonly removed: string
  readonly deliveries: DeliveriesTexts
  readonly form: WebhookFormTexts
}

interface DeliveriesTexts {
  readonly title: string
  readonly empty: string
  readonly delivered: string
  readonly soon: string
  /** {time} */
  readonly waiting: string
  readonly failed: string
  readonly tries: Plural
  /** {status} */
  readonly status: string
  readonly failures: Readonly<Record<Exclude<DeliveryFailure, 'status'>, string>>
  readonly again: string
  /** {kind} */
  readonly againOf: string
  readonly sentAgain: string
}

interface WebhookFormTexts {
  readonly title: string
  readonly url: string
  readonly urlHint: string
  readonly kinds: string
  readonly kindWhys: Readonly<Partial<Record<EventKind, string>>>
  readonly add: string
  readonly changeTitle: string
  readonly changeHint: string
  readonly save: string
  readonly wrongUrl: string
  readonly refused: string
  readonly added: string
  readonly addedWhy: string
  readonly secret: string
  readonly done: string
}
