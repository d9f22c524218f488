import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import type { DeliveryFailure } from '../domain/webhook.ts'

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

/**
 * IPv4 addresses outside the public Internet: https://www.iana.org/assignments/iana-ipv4-special-registry, multicast
 * and reserved ones. Includes metadata services of clouds: 169.254.169.254, 100.100.100.200, 192.0.0.192 and
 * 168.63.129.16.
 */
const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]

/** IPv6 global unicast. All others are refused: loopback, local, mapped and translated ones, multicast. */
const UNICAST_6 = ['2000::/3']

/**
 * Of these, https://www.iana.org/assignments/iana-ipv6-special-registry: protocols such as Teredo and benchmarking,
 * documentation, and 6to4, which embeds IPv4 addresses.
 */
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const notPublic = listOf([...NOT_PUBLIC_4, ...NOT_PUBLIC_6])
const unicast6 = listOf(UNICAST_6)

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', length] = range.split('/')
    list.addSubnet(address, Number(length), isIP(address) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

/** False for malformed addresses and those with a zone. */
export function isPublicAddress(address: string): boolean {
  const version = address.includes('%') ? 0 : isIP(address)
  if (version === 4) return !notPublic.check(address, 'ipv4')
  return version === 6 && unicast6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6')
}
