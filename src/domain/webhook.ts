/** Per account. */
export const MOST_WEBHOOKS = 10

/** `connection`: also unknown, forbidden or refusing hosts: the difference would reveal internal names. */
export const DELIVERY_FAILURES = ['connection', 'timeout', 'status', 'disabled'] as const

export type DeliveryFailure = (typeof DELIVERY_FAILURES)[number]

/** Why the server disables a webhook: it does not answer as it should, or has said that it is gone. */
export type DisablingReason = 'failing' | 'gone'

const SECRET_PREFIX = 'whsec_'
/** Bytes, by Standard Webhooks. */
const [SHORTEST_SECRET, LONGEST_SECRET] = [24, 64]

export const SECRET_LENGTH = 32

export function formatWebhookSecret(bytes: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(bytes).toString('base64')
}

export function parseWebhookSecret(text: string): Uint8Array | null {
  const base64 = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : ''
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) return null
  return bytes.length >= SHORTEST_SECRET && bytes.length <= LONGEST_SECRET ? bytes : null
}

const LONGEST_URL = 2000

/** Http or https, no user, password or fragment; port 80, 443 or from 1024 up, which spares a host's other services. */
export function parseWebhookUrl(text: string): string | null {
  const url = text.length > LONGEST_URL ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return null
  if (url.username !== '' || url.password !== '') return null
  const port = url.port === '' ? 443 : Number(url.port)
  if (port < 1024 && port !== 80 && port !== 443) return null
  url.hash = ''
  return url.href
}
