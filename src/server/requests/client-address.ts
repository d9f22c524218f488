import { BlockList, isIP } from 'node:net'

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
