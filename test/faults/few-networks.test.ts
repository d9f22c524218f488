/** What all share, held by a client with many addresses of few networks: everybody else still gets theirs. */
// Only in test:all: thousands of connections; shares.test.ts has the rule.
import { expect, test } from 'bun:test'
import { WAITING_READERS } from '../../src/downloads/arrivals.ts'
import { ARCHIVE_LIMITS } from '../../src/downloads/zip/archive-slots.ts'
import { SMALL_BODIES } from '../../src/server/requests/body.ts'
import { api, newcomer, withHoldfast } from '../support/clients/api.ts'
import { tus } from '../support/clients/tus.ts'
import { eventually } from '../support/eventually.ts'
import { openRaw, type RawConnection } from '../support/network/raw-connection.ts'
import { atNode, type TestHoldfast } from '../support/servers/holdfast.ts'

const FORM = 'Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded'
const PROXIED = { trustedProxies: ['127.0.0.1'] }

/** Opens so many connections, each from one of the addresses in turn, that send the beginning of a request. */
async function hold(
  holdfast: TestHoldfast,
  { all, each }: typeof SMALL_BODIES,
  head: string,
): Promise<RawConnection[]> {
  const { url } = atNode(holdfast)
  const count = all.holders
  const addresses = Math.ceil(count / each.holders)
  const open = async (number: number) => {
    const connection = await openRaw(url, { readsLate: true })
    const address = `198.51.100.${number % addresses}`
    await connection.send(
      head.replace('\r\n', `\r\nHost: ${new URL(url).host}\r\nX-Forwarded-For: ${address}\r\n`),
    )
    return connection
  }
  const held: RawConnection[] = []
  for (let at = 0; at < count; at += 128) {
    const some = Array.from({ length: Math.min(128, count - at) }, (_, number) => open(at + number))
    held.push(...(await Promise.all(some)))
  }
  return held
}

test('all small bodies: a visitor from elsewhere signs in, and a key makes a folder', () =>
  withHoldfast(PROXIED, async (holdfast) => {
    const owner = await newcomer(holdfast)
    const held = await hold(
      holdfast,
      SMALL_BODIES,
      `POST /sign-in HTTP/1.1\r\n${FORM}\r\nContent-Length: 100\r\n\r\nx`,
    )
    const ask = async (address: string) => {
      const { url } = atNode(holdfast)
      const connection = await openRaw(url)
      const body = 'username=nobody&password=wrong'
      await connection.send(
        `POST /sign-in HTTP/1.1\r\nHost: ${new URL(url).host}\r\nX-Forwarded-For: ${address}\r\n${FORM}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      const answer = await connection.answer()
      connection.destroy()
      return answer
    }
    await eventually(
      'its own addresses are refused more',
      async () => (await ask('198.51.100.3')).status === 429,
    )
    for (const address of ['203.0.113.1', '2001:db8::1', '203.0.113.1']) {
      expect(await ask(address)).toMatchObject({ status: 403, body: expect.stringContaining('password') })
    }
    await owner.folder('by a key')
    for (const connection of held) connection.destroy()
  }))

test('all readers that wait: one from elsewhere gets the file as it comes, and an account too', () =>
  withHoldfast(PROXIED, async (holdfast) => {
    const owner = await newcomer(holdfast)
    const { path, slug } = await tus(owner).start(10)
    await tus(owner).patch(path, 0, new Uint8Array(4))
    const held = await hold(holdfast, WAITING_READERS, `GET /d/${slug}?download=1&wait=1 HTTP/1.1\r\n\r\n`)
    const page = `${atNode(holdfast).url}/d/${slug}?download=1&wait=1`
    const ask = (address: string) => fetch(page, { headers: { 'x-forwarded-for': address } })
    const asked = await Promise.all(['203.0.113.1', '2001:db8::1'].map(ask))
    for (const { status } of asked) expect(status).toBe(200)
    await tus(owner).patch(path, 4, new Uint8Array(6))
    for (const answer of asked) expect((await answer.arrayBuffer()).byteLength).toBe(10)
    for (const connection of held) connection.destroy()
  }))

test('all archives: one from elsewhere gets a zip', () =>
  withHoldfast(PROXIED, async (holdfast) => {
    const owner = await newcomer(holdfast)
    const folder = await owner.folder('large')
    await owner.put(new Uint8Array(16 * 1024 * 1024), { folder })
    const held = await hold(holdfast, ARCHIVE_LIMITS.held, `GET /f/${folder}?download=zip HTTP/1.1\r\n\r\n`)
    const ask = (address: string) =>
      api(atNode(holdfast)).send(`/f/${folder}?download=zip`, {
        method: 'HEAD',
        headers: { 'x-forwarded-for': address },
      })
    for (const address of ['203.0.113.1', '2001:db8::1', '203.0.113.1']) {
      expect((await ask(address)).status).toBe(200)
    }
    for (const connection of held) connection.destroy()
  }))
