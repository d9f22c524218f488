/** What all share is shared by networks: few clients with many addresses leave room for the others. */
import { describe, expect, test } from 'bun:test'
import { type Holder, holderOf, type SharedCeiling, Shares } from '../../../src/core/shares.ts'
import { networksOf } from '../../../src/domain/networks.ts'
import { addressBucket } from '../../../src/server/call.ts'
import { handClock } from '../../support/hand-clock.ts'

const CEILING: SharedCeiling = {
  all: { holders: 40, size: 4000 },
  each: { holders: 4, size: 400 },
  kept: 1 / 4,
  idleAfter: 5000,
}
const FOR_STRANGERS = 30

const at = (address: string): Holder => holderOf({ caller: null, bucket: addressBucket(address) })
const account = (id: number): Holder => ({ networks: [`account ${id}`], isKnown: true })

function shared(ceiling = CEILING) {
  const clock = handClock()
  const shares = new Shares(clock, ceiling)
  const ended: string[] = []
  const begin = (holder: Holder, name = holder.networks.at(-1) ?? '', size = 0) =>
    shares.begin(holder, size, () => ended.push(name))
  return { clock, begin, ended }
}

const codeOf = (work: () => unknown): unknown => {
  try {
    work()
    return null
  } catch (error) {
    return Object(error).code
  }
}

test.each([
  ['203.0.113.9', ['203.0.113.0/24', '203.0.113.9']],
  ['::ffff:203.0.113.9', ['203.0.113.0/24', '203.0.113.9']],
  ['2001:db8:1:fedc::7', ['2001:db8:1::/48', '2001:db8:1:fe00::/56', '2001:db8:1:fedc::/64']],
  ['2001:db8:0:1::', ['2001:db8:0::/48', '2001:db8:0:0::/56', '2001:db8:0:1::/64']],
  ['', ['']],
])('the networks of %p are the widest first', (address, networks) => {
  expect(networksOf(addressBucket(address))).toEqual(networks)
})

/** Addresses that one client has, as many as it likes. */
const fleets: readonly (readonly [string, (number: number) => string])[] = [
  ['one IPv4 /24', (n) => `198.51.100.${n}`],
  ['one IPv6 /56', (n) => `2001:db8:5:4${n.toString(16).padStart(2, '0')}::1`],
  ['one IPv6 /48', (n) => `2001:db8:5:${(n * 256).toString(16)}::1`],
]

describe.each(fleets)('what is held from all addresses of %s', (_, address) => {
  test('yields to a newcomer from another network, whether it is in use or not', () => {
    const { begin, ended } = shared()
    for (let n = 0; n < FOR_STRANGERS; n++) begin(at(address(n)))
    for (const newcomer of ['203.0.113.9', '2001:db8:6::1', '203.0.113.9']) begin(at(newcomer))
    expect(ended).toHaveLength(3)
    const own = address(0).slice(0, 9)
    for (const each of ended) expect(each.startsWith(own)).toBe(true)
  })

  test('does not yield to more of the same while it is in use, and then what is idle longest does', () => {
    const { begin, ended, clock } = shared()
    const held = Array.from({ length: FOR_STRANGERS }, (_each, n) => begin(at(address(n)), String(n)))
    expect(codeOf(() => begin(at(address(60))))).toBe('SERVER_BUSY')
    clock.advance(3000)
    for (const [n, holding] of held.entries()) if (n !== 7) holding.used()
    clock.advance(2000)
    begin(at(address(60)))
    expect(ended).toEqual(['7'])
  })
})

test('nothing ends while there is room, however long it was idle', () => {
  const { begin, ended, clock } = shared()
  for (let n = 0; n < FOR_STRANGERS; n++) {
    clock.advance(3_600_000)
    begin(at(`198.51.100.${n}`))
  }
  expect(ended).toEqual([])
})

test('a neighbour in the network of one that holds most is let in at its cost', () => {
  const { begin, ended } = shared()
  for (let n = 0; n < FOR_STRANGERS; n++) begin(at(`198.51.100.${n % 8}`))
  begin(at('198.51.100.200'))
  expect(ended).toHaveLength(1)
})

test('a share is kept for keys and sessions, and none of theirs ends for a stranger', () => {
  const { begin, ended } = shared()
  const strangers = Array.from({ length: FOR_STRANGERS }, (_, n) => begin(at(`198.51.${n}.1`)))
  expect(codeOf(() => begin(at('203.0.113.9')))).toBe('SERVER_BUSY')
  for (let n = 0; n < 10; n++) begin(account(n))
  expect(ended).toEqual([])
  expect(codeOf(() => begin(at('203.0.113.9')))).toBe('SERVER_BUSY')
  strangers[0]?.end()
  begin(at('203.0.113.9'))
  expect(ended).toEqual([])
})

test('an account that holds most yields to another', () => {
  const { begin, ended } = shared({ ...CEILING, each: { holders: 40, size: 4000 } })
  for (let n = 0; n < 40; n++) begin(account(1))
  begin(account(2))
  expect(ended).toEqual(['account 1'])
})

test('what an address holds is limited in number and size, and returned once', () => {
  const { begin } = shared()
  const held = Array.from({ length: 4 }, () => begin(at('198.51.100.1'), 'x', 90))
  expect(codeOf(() => begin(at('198.51.100.1')))).toBe('RATE_LIMITED')
  held[0]?.grow(40)
  expect(codeOf(() => held[1]?.grow(1))).toBe('RATE_LIMITED')
  held[0]?.end()
  held[0]?.end()
  held[1]?.grow(130)
  begin(at('198.51.100.1'))
  expect(codeOf(() => begin(at('198.51.100.1')))).toBe('RATE_LIMITED')
})

test('sizes are shared as numbers are, but one alone that is in use does not end for its size', () => {
  const { begin, ended } = shared({ ...CEILING, each: { holders: 40, size: 4000 } })
  const large = begin(at('198.51.100.1'), 'large', 2990)
  const small = begin(at('203.0.113.9'), 'small', 5)
  expect(codeOf(() => small.grow(100))).toBe('SERVER_BUSY')
  expect(ended).toEqual([])
  large.end()
  begin(at('198.51.100.1'), 'first', 1500)
  begin(at('198.51.100.2'), 'second', 1490)
  small.grow(100)
  expect(ended).toEqual(['first'])
})
