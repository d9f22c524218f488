import type { WebhookEvent } from '../contract/webhooks.ts'
import { timestamp } from '../domain/clock.ts'
import type { DueDelivery } from './deliveries.rows.ts'

/** Identifies the event to its receivers, however often it is sent. */
export function eventIdOf({ uid }: Pick<DueDelivery, 'uid'>): string {
  return `evt_${uid}`
}

/** The same for every attempt, since an event never changes. */
export function eventBody(event: DueDelivery, publicUrl: string): string {
  const { kind, at, link, file_id, file_name, bytes, times, reason, address } = event
  const body: WebhookEvent = {
    type: kind,
    timestamp: timestamp(at),
    data: {
      link: link === null ? null : { slug: link, url: `${publicUrl}/l/${link}` },
      file: file_name === null ? null : { id: file_id, name: file_name },
      bytes,
      times,
      reason,
      address,
    },
  }
  return JSON.stringify(body)
}
