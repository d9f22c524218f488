import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  addressBucket,
  clientAddress,
  connectionBucket,
  parseTrustedProxies,
} from '../../../../src/server/call.ts'
import { runsOf } from '../../../support/cases.ts'

const nobody = parseTrustedProxies([])
const proxies = parseTrustedProxies(['10.0.0.0/8', '127.0.0.1', 'fd00::/8', '::1'])

describe('clientAddress', () => {
  test('is the socket, whatever a stranger claims', () => {
    expect(clientAddress('203.0.113.9', '198.51.100.1', nobody)).toBe('203.0.113.9')
    expect(clientAddress('203.0.113.9', '198.51.100.1', proxies)).toBe('203.0.113.9')
    expect(clientAddress('127.0.0.1', '198.51.100.1', nobody)).toBe('127.0.0.1')
  })

  test.each([
    ['198.51.100.1', '198.51.100.1'],
    ['6.6.6.6, 198.51.100.1', '198.51.100.1'],
    ['6.6.6.6, 198.51.100.1, 10.1.1.1', '198.51.100.1'],
    ['198.51.100.1,10.1.1.1,fd00::7', '198.51.100.1'],
    ['10.2.2.2, 10.1.1.1', '10.2.2.2'],
    ['::ffff:198.51.100.1', '198.51.100.1'],
    ['::ffff:c633:6401', '198.51.100.1'],
    ['6.6.6.6, ::ffff:10.1.1.1', '6.6.6.6'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['198.51.100.1:443', '198.51.100.1'],
    ['::0:0:0:0:0.0.0.0', '::'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ])('behind a proxy that forwarded %p is %p', (forwarded, address) => {
    expect(clientAddress('10.0.0.1', forwarded, proxies)).toBe(address)
  })

  test.each([
    null,
    '',
    'unknown',
    ',',
    '999.1.1.1',
    '198.51.100',
    '0x7f000001',
    '198.51.100.1 8.8.8.8',
    '[::1',
    'for=198.51.100.1',
    '6.6.6.6, unknown',
  ])('is the proxy when it forwarded %p', (forwarded) => {
    expect(clientAddress('10.0.0.1', forwarded, proxies)).toBe('10.0.0.1')
  })

  test('takes nothing from beyond an entry that is no address', () => {
    expect(clientAddress('10.0.0.1', '6.6.6.6, unknown, 10.1.1.1', proxies)).toBe('10.1.1.1')
  })

  test('knows a proxy that connects by IPv4 mapped into IPv6', () => {
    expect(clientAddress('::ffff:10.0.0.1', '198.51.100.1', proxies)).toBe('198.51.100.1')
    expect(clientAddress('::ffff:203.0.113.9', null, proxies)).toBe('203.0.113.9')
  })

  test('gives an address in one spelling, without its zone', () => {
    expect(clientAddress('FE80:0:0:0::1%eth0', null, nobody)).toBe('fe80::1')
  })

  test('gives a socket without an address as it came', () => {
    expect(clientAddress('', '6.6.6.6', proxies)).toBe('')
    expect(clientAddress('', '6.6.6.6', parseTrustedProxies(['0.0.0.0/0', '::/0']))).toBe('')
  })

  test('has one spelling for every way an address can be written', () => {
    const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
      minLength: 8,
      maxLength: 8,
    })
    fc.assert(
      fc.property(groups, (numbers) => {
        const long = numbers.map((number) => number.toString(16).toUpperCase().padStart(4, '0')).join(':')
        const dotted = numbers.slice(6).flatMap((number) => [number >> 8, number & 0xff])
        const mixed = `${numbers
          .slice(0, 6)
          .map((number) => number.toString(16))
          .join(':')}:${dotted.join('.')}`
        const short = clientAddress(long, null, nobody)
        expect(clientAddress(mixed, null, nobody)).toBe(short)
        expect(clientAddress(short, null, nobody)).toBe(short)
      }),
    )
  })

  test('is found for every address that the parser takes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), fc.ipV4(), fc.string()), (text) => {
        const address = clientAddress(text, `${text}, ${text}`, proxies)
        expect(clientAddress(address, null, nobody)).toBe(address)
      }),
      { numRuns: runsOf(1000) },
    )
  })

  test('cannot be changed by what a client writes in front', () => {
    const forged = fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), { maxLength: 6 })
    fc.assert(
      fc.property(forged, (entries) => {
        const forwarded = [...entries, '198.51.100.1', '10.1.1.1'].join(', ')
        expect(clientAddress('10.0.0.1', forwarded, proxies)).toBe('198.51.100.1')
      }),
    )
  })
})

describe('parseTrustedProxies', () => {
  test('covers exactly the range', () => {
    const trusted = parseTrustedProxies(['192.168.4.0/22', '2001:db8::/33', ' 203.0.113.9 '])
    const through = (proxy: string) => clientAddress(proxy, '6.6.6.6', trusted) === '6.6.6.6'
    expect(
      ['192.168.4.0', '192.168.7.255', '2001:db8:7fff:ffff::1', '203.0.113.9'].filter((it) => !through(it)),
    ).toEqual([])
    expect(['192.168.3.255', '192.168.8.0', '2001:db8:8000::', '203.0.113.8'].filter(through)).toEqual([])
  })

  test('takes IPv4 mapped into IPv6 for IPv4', () => {
    const trusted = parseTrustedProxies(['::ffff:10.0.0.0/104', '::ffff:192.0.2.1'])
    expect(clientAddress('10.255.0.1', '6.6.6.6', trusted)).toBe('6.6.6.6')
    expect(clientAddress('192.0.2.1', '6.6.6.6', trusted)).toBe('6.6.6.6')
    expect(clientAddress('11.0.0.1', '6.6.6.6', trusted)).toBe('11.0.0.1')
  })

  test('takes the widest and the narrowest range', () => {
    const all = parseTrustedProxies(['0.0.0.0/0', '::/0'])
    expect(clientAddress('203.0.113.9', '2001:db8::1', all)).toBe('2001:db8::1')
    const one = parseTrustedProxies(['203.0.113.9/32', '2001:db8::1/128'])
    expect(clientAddress('203.0.113.9', '6.6.6.6', one)).toBe('6.6.6.6')
    expect(clientAddress('203.0.113.8', '6.6.6.6', one)).toBe('203.0.113.8')
    expect(clientAddress('2001:db8::1', '6.6.6.6', one)).toBe('6.6.6.6')
  })

  test.each([
    '',
    'localhost',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/a',
    '10.0.0.0/255.0.0.0',
    'fd00::/129',
    '::ffff:10.0.0.0/95',
    'fe80::1%eth0',
    '10.0.0.0 /8',
  ])('names the entry %p as wrong', (entry) => {
    expect(() => parseTrustedProxies(['10.0.0.0/8', entry])).toThrow(`"${entry}"`)
  })
})

describe('addressBucket', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1::2:3:4:5:6', '1:0:0:2::/64'],
    ['', ''],
  ])('of %p is %p', (address, bucket) => {
    expect(addressBucket(address)).toBe(bucket)
  })

  test('is one for a whole /64 and another for the next', () => {
    const group = fc.integer({ min: 1, max: 0xffff }).map((value) => value.toString(16))
    fc.assert(
      fc.property(fc.tuple(group, group, group, group), fc.ipV6(), (network, other) => {
        const start = network.join(':')
        expect(addressBucket(`${start}::`)).toBe(addressBucket(`${start}:1:2:3:4`))
        expect(addressBucket(other)).toMatch(/^(?:(?:[\da-f]{1,4}:){4}:\/64|[\d.]+)$/)
        expect(addressBucket(`${start}::`)).not.toBe(addressBucket(`${network.slice(0, 3).join(':')}:0::`))
      }),
    )
  })
})

test('connections of a trusted proxy count for nobody, those of others for their address', () => {
  expect(connectionBucket('10.1.2.3', proxies)).toBe(null)
  expect(connectionBucket('::ffff:10.1.2.3', proxies)).toBe(null)
  expect(connectionBucket('203.0.113.9', proxies)).toBe('203.0.113.9')
  expect(connectionBucket('2001:db8:1:2::9', proxies)).toBe('2001:db8:1:2::/64')
  expect(connectionBucket('10.1.2.3', nobody)).toBe('10.1.2.3')
})
