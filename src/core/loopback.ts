import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Loopback independent of DNS. */
export function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (host === 'localhost') return true
  const family = isIP(host)
  return family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
