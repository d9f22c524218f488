import { BlockList, isIP } from 'node:net'

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
