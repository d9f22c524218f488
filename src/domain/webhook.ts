/** Webhooks of an account. */
export const MOST_WEBHOOKS = 10

/**
 * Why a delivery failed: no connection, or one that broke; no answer in time; an answer that is no success; or the webhook was
 * disabled meanwhile. A host without an address, with one that may not be asked, and one that refuses are all no connection:
 * the difference would tell which names there are inside.
 */
export const DELIVERY_FAILURES = ['connection', 'timeout', 'status', 'disabled'] as const

export type DeliveryFailure = (typeof DELIVERY_FAILURES)[number]

/** As it is stored: versions before told of hosts without a public address. */
export type StoredDeliveryFailure = DeliveryFailure | 'address'

/** Why the server disables a webhook: it does not answer as it should, or has said that it is gone. */
export type DisablingReason = 'failing' | 'gone'

const SECRET_PREFIX = 'whsec_'
/** Bytes of a secret, as Standard Webhooks has it. */
const [SHORTEST_SECRET, LONGEST_SECRET] = [24, 64]

export const SECRET_LENGTH = 32

/** As Standard Webhooks writes secrets. */
export function formatWebhookSecret(bytes: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(bytes).toString('base64')
}

/** The bytes that sign; null for what is no such secret. */
export function parseWebhookSecret(text: string): Uint8Array | null {
  const base64 = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : ''
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) return null
  return bytes.length >= SHORTEST_SECRET && bytes.length <= LONGEST_SECRET ? bytes : null
}

const LONGEST_URL = 2000

/**
 * The address of a receiver, normalised: http or https, without user, password and fragment, at port 80, 443 or one from 1024
 * up, so that no other service of a host is sent requests. null for anything else.
 */
export function parseWebhookUrl(text: string): string | null {
  const url = text.length > LONGEST_URL ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return null
  if (url.username !== '' || url.password !== '') return null
  const port = url.port === '' ? 443 : Number(url.port)
  if (port < 1024 && port !== 80 && port !== 443) return null
  url.hash = ''
  return url.href
}
