/** A proxy in front of a server that nobody told of it: said once for each, in the log and by the doctor. */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { checkProxies } from '../../../../src/operations/doctor/forwarding.ts'
import { isNear, parseTrustedProxies, watchForUnknownProxies } from '../../../../src/server/call.ts'
import { withHoldfast } from '../../../support/clients/api.ts'
import { eventually } from '../../../support/eventually.ts'
import { atNode } from '../../../support/servers/holdfast.ts'
import { administrator } from '../../../support/sign-in/administrator.ts'

const HEADERS = ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'X-Forwarded-Proto']

test.each(HEADERS)('a peer on this machine that sends %s and is not trusted is told of once', (name) => {
  const told: unknown[] = []
  const look = watchForUnknownProxies(parseTrustedProxies(['10.0.0.1']), (found) => told.push(found))
  for (const peer of ['127.0.0.1', '127.0.0.1', '::1', '192.168.1.5'])
    look(peer, new Headers({ [name]: 'x' }))
  for (const peer of ['10.0.0.1', '203.0.113.9', '2001:db8::1', '']) look(peer, new Headers({ [name]: 'x' }))
  look('172.16.0.1', new Headers({ accept: '*/*' }))
  const header = name.toLowerCase()
  expect(told).toEqual(['127.0.0.1', '::1', '192.168.1.5'].map((peer) => ({ peer, header })))
})

test('the peers that are told of are bounded', () => {
  const told: unknown[] = []
  const look = watchForUnknownProxies(parseTrustedProxies([]), (found) => told.push(found))
  for (let at = 0; at < 1000; at++) look(`10.1.${at >> 8}.${at & 255}`, new Headers({ forwarded: 'for=x' }))
  expect(told).toHaveLength(16)
})

test('addresses of this machine and private networks are near, in any spelling', () => {
  for (const peer of ['127.9.9.9', '::1', '::ffff:10.1.2.3', 'fd00::1', 'fe80::1%eth0', '100.64.1.1']) {
    expect(isNear(peer)).toBe(true)
  }
  for (const peer of ['8.8.8.8', '2001:db8::1', '::ffff:8.8.8.8', '/run/socket', ''])
    expect(isNear(peer)).toBe(false)
})

test('the doctor and the overview name the peer, the header and the setting, until it is trusted', () =>
  withHoldfast({}, async (holdfast) => {
    const { database: db, clock } = holdfast
    const check = (trustedProxies: string[]) => checkProxies(db, { trustedProxies }, clock.now())
    expect(await check([])).toMatchObject({ level: 'ok' })
    for (let count = 0; count < 3; count++) {
      await fetch(`${atNode(holdfast).url}/health`, { headers: { 'x-forwarded-for': '203.0.113.9' } })
    }
    await eventually('it is noted', async () => (await check([])).level === 'problem')
    const found = await check([])
    expect(found.what).toMatch(/127\.0\.0\.1|::1/)
    expect(found.what).toContain('x-forwarded-for')
    expect(found.changes[0]?.line).toContain('HOLDFAST_TRUSTED_PROXIES=')
    const overview = z.object({ now: z.object({ unknown_proxies: z.array(z.unknown()) }) })
    const { now } = await (await administrator(holdfast)).read('/statistics', overview)
    expect(now.unknown_proxies).toContainEqual({
      peer: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
      header: 'x-forwarded-for',
    })
    expect(await check(['127.0.0.1', '::1'])).toMatchObject({ level: 'ok' })
    clock.advance(8 * 24 * 3_600_000)
    expect(await check([])).toMatchObject({ level: 'ok' })
  }))
