import type { WebhookEvent } from '../contract/events.ts'
import { eventFields } from '../core/link-events.rows.ts'
import { timestamp } from '../domain/clock.ts'
import type { DueDelivery } from './deliveries.rows.ts'

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
