import { createHmac } from 'node:crypto'
import { parseWebhookSecret } from '../domain/webhook.ts'

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
