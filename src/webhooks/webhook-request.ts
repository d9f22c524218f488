import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { DeliveryFailure } from '../domain/webhook.ts'
import { isPublicAddress } from './public-address.ts'

/** Addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>

export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Number of attempts before this one: each goes to the next address of the host. */
  readonly tries: number
  readonly signal: AbortSignal
}

export type WebhookAnswer =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly failure: DeliveryFailure }

export interface WebhookSender {
  /** Never throws, but for the abort of the signal. */
  post(request: WebhookRequest): Promise<WebhookAnswer>
}

/** Milliseconds for all of a request: name, connection, answer. */
const MAY_TAKE = 15_000

export const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * Posts to addresses that strangers have chosen. The name is resolved once, and the connection is made to an address that
 * was looked at: another answer of a name server later leads nowhere. Redirects are not followed and bodies not read.
 * `anyNetwork`: whether private networks may be asked too.
 */
export function createWebhookSender({
  anyNetwork,
  resolve = resolveHost,
  mayTake = MAY_TAKE,
}: {
  readonly anyNetwork: boolean
  readonly resolve?: Resolve
  readonly mayTake?: number
}): WebhookSender {
  async function addressFor({ hostname }: URL, tries: number): Promise<string | null> {
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const addresses = isIP(host) === 0 ? await resolve(host) : [host]
    const allowed = anyNetwork ? addresses : addresses.filter(isPublicAddress)
    return allowed[tries % allowed.length] ?? null
  }

  async function send({ url: text, headers, body, tries }: WebhookRequest, signal: AbortSignal) {
    const url = new URL(text)
    const address = await unlessAborted(addressFor(url, tries), signal)
    if (address === null) return failed('connection')
    const { host, hostname } = url
    url.hostname = isIP(address) === 6 ? `[${address}]` : address
    const isName = isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0
    const response = await fetch(url, {
      method: 'POST',
      // The name is for the receiver and its certificate; the connection goes to the address.
      headers: { ...headers, Host: host },
      ...(url.protocol === 'https:' && isName ? { tls: { serverName: hostname } } : {}),
      body,
      redirect: 'manual',
      keepalive: false,
      decompress: false,
      signal,
    })
    await response.body?.cancel().catch(() => {})
    return { kind: 'answered', status: response.status } as const
  }

  return {
    async post(request) {
      const timeout = AbortSignal.timeout(mayTake)
      try {
        return await send(request, AbortSignal.any([request.signal, timeout]))
      } catch {
        request.signal.throwIfAborted()
        return failed(timeout.aborted ? 'timeout' : 'connection')
      }
    },
  }
}

function failed(failure: DeliveryFailure): WebhookAnswer {
  return { kind: 'failed', failure }
}

/** A look-up cannot be stopped, but need not be waited for. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    if (signal.aborted) onAbort()
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
    aborted.catch(() => {})
  }
}
