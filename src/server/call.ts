import { BlockList, isIP } from 'node:net'
import type { Config } from '../config.ts'
import type { Caller } from '../core/callers.ts'
import type { Verdict } from '../core/rate-limits/rate-limits.ts'
import type { Shares } from '../core/shares.ts'
import type { Scope } from '../domain/access.ts'
import type { Clock, Timers } from '../domain/clock.ts'
import { Refusal, wrongSecret } from '../domain/errors.ts'
import type { Slug } from '../domain/ids.ts'
import type { JsonAnswer } from './answers/answers.ts'
import type { Connection } from './connections/exchange.ts'
import type { SmallBodies } from './requests/body.ts'

/** Permission that a route requires of a key: a scope, or just validity. */
export type Need = Scope | 'any'

/** CORS: callable from pages of any site, or only of this one. */
export type Origins = 'any origin' | 'own origin'

/** Server-wide state for the response to any request: settings, clock, addresses. */
export interface Site {
  readonly clock: Clock
  readonly config: Config
  /** Public address without a trailing slash. */
  readonly publicUrl: string
  /** Address for content, without a trailing slash. */
  readonly contentUrl: string
  readonly isForContent: ReturnType<typeof contentHost>
  readonly uploadsUnderWay: UploadsUnderWay
  readonly smallBodies: SmallBodies
  /** Unpaged folder listings that are being sent. */
  readonly wholeListings: Shares
  /** Logs an unexpected failure, with the id of its request. */
  readonly report: (error: unknown, request?: string) => void
  /** The OpenAPI document. */
  readonly openApi: () => unknown
  /** The OpenAPI document in its serialized form. */
  readonly openApiAnswer: () => JsonAnswer
}

/** API key from the Authorization header; null without the header. Throws Refusal when it is malformed. */
export function bearerKey(request: Request): string | null {
  const header = request.headers.get('authorization')
  if (header === null) return null
  const key = /^Bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1]
  if (key === undefined) {
    throw wrongSecret('INVALID_API_KEY', 'The Authorization header must read "Bearer <API key>"', 'key')
  }
  return key
}

export const FOLDER_COOKIE = 'folder_access_token'

/** A request being handled, with what is learnt about it for the log and for response headers. */
export class Call {
  readonly site: Site
  /** Request id for the log. */
  readonly id: string
  readonly request: Request
  readonly connection: Connection
  /** Additional headers of the response. */
  readonly headers = new Map<string, string>()
  /** Pattern, or `-` without a match. */
  route = '-'
  /** Default for unmatched paths, whose responses reveal nothing. */
  origins: Origins = 'any origin'
  /** Maximum bytes of a body that is read into memory. */
  bodyLimit = 0
  params: Readonly<Record<string, string>> = {}
  /** Permission that a key requires here; null where keys are not accepted. */
  need: Need | null = null
  /** The caller, once authenticated. */
  caller: Caller | null = null
  /** Remaining rate limit, once counted; sent in response headers. */
  rate: Verdict | null = null
  /** A refusal that the caller is not told as an error: a form says so, or a wrong key makes a stranger. For the logs. */
  refusal: Refusal | null = null
  readonly #trusted: TrustedProxies
  #url: URL | null = null

  constructor(site: Site, request: Request, connection: Connection, id: string, trusted: TrustedProxies) {
    this.site = site
    this.request = request
    this.connection = connection
    this.id = id
    this.#trusted = trusted
  }

  /** Parsed lazily: most requests need only their path. */
  get url(): URL {
    this.#url ??= new URL(this.request.url)
    return this.#url
  }

  /** The client's address; empty when unknown. Must be read while the connection is open. */
  get address(): string {
    const forwardedFor = this.request.headers.get('x-forwarded-for')
    return clientAddress(this.connection.address, forwardedFor, this.#trusted)
  }

  /** The other end of the connection: the client, or the last proxy before this server; empty when unknown. */
  get peer(): string {
    return this.connection.address
  }

  /** `address` as rate limits count it, with IPv6 reduced to its /64. Must be read while the connection is open. */
  get bucket(): string {
    return addressBucket(this.address)
  }
}

/**
 * Whether a request is to the content's host; null when content has no host of its own. The port only counts when the
 * host names are equal, since a proxy may drop it.
 */
export function contentHost(publicUrl: string, contentUrl: string): (request: Request) => boolean | null {
  const content = new URL(contentUrl)
  const site = new URL(publicUrl)
  if (content.host === site.host) return () => null
  const part = content.hostname === site.hostname ? 'host' : 'hostname'
  return ({ headers }) => {
    const host = headers.get('host')
    return host !== null && URL.parse(`${content.protocol}//${host}`)?.[part] === content[part]
  }
}

const METHODS = ['HEAD', 'GET', 'PATCH', 'DELETE'] as const
export type MeantMethod = (typeof METHODS)[number]

/**
 * Effective method of an upload request: clients may send POST with a header that names it. Ignored with other methods,
 * so that the real one decides access. Throws Refusal METHOD_NOT_ALLOWED.
 */
export function meantMethod(request: Request): MeantMethod {
  const name = methodName(request)
  const meant = METHODS.find((known) => known === name)
  if (meant === undefined) throw new Refusal('METHOD_NOT_ALLOWED', 'Use HEAD, GET, PATCH or DELETE here')
  return meant
}

export function carriesBytes(request: Request): boolean {
  return methodName(request) === 'PATCH'
}

function methodName({ method, headers }: Request): string {
  const override = method === 'POST' ? headers.get('x-http-method-override')?.toUpperCase() : undefined
  return override ?? method
}

export function shuttingDown(): Refusal {
  return new Refusal('SHUTTING_DOWN', 'The server is restarting; try again', 5)
}

/** Address of the file's page. */
export function fileUrl(site: Site, slug: Slug): string {
  return `${site.publicUrl}/d/${slug}`
}

/** Lets a stopping server wait for uploads and abort those that take too long. */
export class UploadsUnderWay {
  readonly #timers: Timers
  readonly #running = new Map<(reason: Refusal) => void, 'whole' | 'resumable'>()
  #idle: (() => void) | null = null

  constructor(timers: Timers) {
    this.#timers = timers
  }

  get count(): number {
    return this.#running.size
  }

  /** `resumable`: bytes before `end` are kept, and the client continues with the next server. Returns its end. */
  begin(end: (reason: Refusal) => void, kind: 'whole' | 'resumable'): () => void {
    this.#running.set(end, kind)
    return () => {
      this.#running.delete(end)
      if (this.#running.size === 0) this.#idle?.()
    }
  }

  /** Resolves without uploads. Aborts resumable ones at once, keeping bytes; the others after `milliseconds`. */
  async finished(milliseconds: number): Promise<void> {
    if (this.#running.size === 0) return
    const idle = Promise.withResolvers<void>()
    this.#idle = idle.resolve
    this.#endAll('resumable')
    const cancel = this.#timers.after(milliseconds, () => this.#endAll('resumable', 'whole'))
    await idle.promise
    cancel()
  }

  #endAll(...kinds: readonly ('whole' | 'resumable')[]): void {
    for (const [end, kind] of [...this.#running]) if (kinds.includes(kind)) end(shuttingDown())
  }
}

export interface TrustedProxies {
  /** `address`: normalized. */
  has(address: string): boolean
}

/** Addresses and CIDR ranges, IPv4 and IPv6. Throws an Error that names an invalid entry. */
export function parseTrustedProxies(list: readonly string[]): TrustedProxies {
  const blocks = new BlockList()
  for (const entry of list) add(blocks, entry)
  return { has: (address) => isIP(address) !== 0 && blocks.check(address, family(address)) }
}

/**
 * The socket's address or, behind a trusted proxy, the rightmost untrusted one in X-Forwarded-For: entries left of it
 * may be forged. At an invalid entry, or if all are trusted, the last proxy reached.
 *
 * IPv4 in dotted form even if mapped into IPv6; IPv6 as in RFC 5952. Names of sockets without address, such as Unix
 * sockets, stay.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | null,
  trusted: TrustedProxies,
): string {
  let address = normalise(socketAddress) ?? socketAddress
  for (const hop of (forwardedFor ?? '').split(',').reverse()) {
    if (!trusted.has(address)) break
    const next = normalise(withoutPort(hop.trim()))
    if (next === null) break
    address = next
  }
  return address
}

/** For rate limits: the address, or for IPv6 its /64, the least that subscribers have. */
export function addressBucket(address: string): string {
  const known = normalise(address)
  if (known === null || family(known) === 'ipv4') return known ?? address
  return `${groupsOf(known).slice(0, 4).join(':')}::/64`
}

/** For the connection limit; null for a trusted proxy, which carries many clients. */
export function connectionBucket(address: string, trusted: TrustedProxies): string | null {
  return trusted.has(normalise(address) ?? address) ? null : addressBucket(address)
}

function add(blocks: BlockList, entry: string): void {
  const [, text = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry.trim()) ?? []
  const address = normalise(text)
  if (address === null || text.includes('%')) throw wrongEntry(entry)
  if (prefix === undefined) {
    blocks.addAddress(address, family(address))
    return
  }
  // Mapped ranges are those of the IPv4 addresses.
  const mapped = isIP(text) === 6 && family(address) === 'ipv4'
  const length = Number(prefix) - (mapped ? 96 : 0)
  if (length < 0 || length > (family(address) === 'ipv4' ? 32 : 128)) throw wrongEntry(entry)
  blocks.addSubnet(address, length, family(address))
}

function wrongEntry(entry: string): Error {
  return new Error(`"${entry}" is not an IP address or a CIDR range such as 10.0.0.0/8 or fd00::/8`)
}

/** Canonical, without zone (`%eth0`); null if invalid. */
function normalise(text: string): string | null {
  const address = text.replace(/%.*$/s, '')
  const version = isIP(address)
  if (version !== 6) return version === 4 ? address : null
  const groups = groupsOf(address)
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16))
  if (/^(0,){5}ffff,/.test(groups.join())) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  // Bun 1.4.5 rejects some valid addresses with `::` and a dotted end in a URL, so groups are expanded.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

function groupsOf(address: string): string[] {
  const dotted = /[\d.]*\.[\d.]*$/.exec(address)?.[0]
  const [a = 0, b = 0, c = 0, d = 0] = (dotted ?? '').split('.').map(Number)
  const tail = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  const written = dotted === undefined ? address : address.slice(0, -dotted.length) + tail
  const [left = [], right = []] = written.split('::').map((side) => (side === '' ? [] : side.split(':')))
  const zeros = new Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16).toString(16))
}

/** Some proxies add the port: `192.0.2.1:443`, `[2001:db8::1]` or `[2001:db8::1]:443`. */
function withoutPort(text: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

const FORWARDING = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'x-forwarded-host',
  'x-forwarded-proto',
  'cf-connecting-ip',
  'true-client-ip',
] as const

/** A peer that forwards requests without being trusted, so that all its clients count as one. */
export interface UnknownProxy {
  readonly peer: string
  readonly header: string
}

/** Each is logged, and strangers in a private network can send such headers. */
const MOST = 16

const near = new BlockList()
for (const [network, length] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  near.addSubnet(network, length, 'ipv4')
}
near.addAddress('::1', 'ipv6')
near.addSubnet('fc00::', 7, 'ipv6')
near.addSubnet('fe80::', 10, 'ipv6')

export function isNear(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/s, '')
  const version = isIP(plain)
  return version !== 0 && near.check(plain, version === 4 ? 'ipv4' : 'ipv6')
}

/** The returned function checks each request, and reports each untrusted near peer with a forwarding header once. */
export function watchForUnknownProxies(
  trusted: TrustedProxies,
  tell: (found: UnknownProxy) => void,
): (peer: string, headers: Headers) => void {
  const told = new Set<string>()
  return (peer, headers) => {
    if (told.size >= MOST || told.has(peer)) return
    const header = FORWARDING.find((name) => headers.has(name))
    if (header === undefined || trusted.has(peer) || !isNear(peer)) return
    told.add(peer)
    tell({ peer, header })
  }
}
