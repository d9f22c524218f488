import { BlockList, isIP } from 'node:net'
import type { TrustedProxies } from './client-address.ts'

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
