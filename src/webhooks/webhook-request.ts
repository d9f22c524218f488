import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { DeliveryFailure } from '../domain/webhook.ts'
import { isPublicAddress } from './public-address.ts'

export type Resolve = (host: string) => Promise<readonly string[]>

export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Earlier attempts: each goes to the next address of the host. */
  readonly tries: number
  readonly signal: AbortSignal
}

export type WebhookAnswer =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly failure: DeliveryFailure }

export interface WebhookSender {
  /** Throws only the signal's reason. */
  post(request: WebhookRequest): Promise<WebhookAnswer>
}

/** Milliseconds for a whole request: name, connection, answer. */
const MAY_TAKE = 15_000

export const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * Posts to addresses chosen by strangers. Resolves the name once and connects to an address that was checked, against
 * DNS rebinding. Does not follow redirects or read bodies. `anyNetwork`: allows private networks.
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

/** A look-up cannot be stopped, but need not be awaited. */
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
