// Only in test:all: races of three nodes.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { wholeSum } from '../../src/database/differences.ts'
import { chance } from '../support/chance.ts'
import { caller } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import type { ChildAccount, ChildServer } from '../support/processes/child.ts'
import {
  onSharedServers,
  type SharedInstallation,
  sharedInstallation,
} from '../support/servers/shared-installation.ts'
import { unsoundness } from '../support/storage/soundness.ts'

const MIB = 1024 ** 2
const STORAGE_LIMIT = 10 * MIB
const TRIES = 5
const random = chance(55)

onSharedServers('three nodes together', () => {
  const open = new AsyncDisposableStack()
  let installation: SharedInstallation
  let nodes: ChildServer[]

  beforeAll(async () => {
    installation = open.use(await sharedInstallation())
    const settings = {
      RATE_LIMIT: '1000',
      STORAGE_LIMIT: '10MB',
      GUEST_RATE_LIMIT: '20',
      GUEST_HOURLY_SIZE: '1MB',
      // The tests come from there, so they may say whose visits they are.
      TRUSTED_PROXIES: '127.0.0.1',
    }
    nodes = await Promise.all(Array.from({ length: 3 }, () => installation.startNode(settings)))
  })
  afterAll(() => open.disposeAsync())

  const nodeOf = (index: number) => nodes[index % nodes.length]?.url ?? ''
  const bearer = ({ apiKey }: ChildAccount) => ({ authorization: `Bearer ${apiKey}` })

  /** How often each status came, of so many requests at the same time, each to the next node. */
  async function statuses(
    count: number,
    request: (url: string, index: number) => Promise<Response>,
  ): Promise<Record<number, number>> {
    const seen: Record<number, number> = {}
    let next = 0
    async function client(): Promise<void> {
      while (next < count) {
        const index = next++
        const response = await answered(() => request(nodeOf(index), index))
        if (response.status === 429) expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
        seen[response.status] = (seen[response.status] ?? 0) + 1
      }
    }
    await Promise.all(Array.from({ length: 64 }, client))
    return seen
  }

  /** As programs do, asks again what a busy machine had no time for: what counts is that nothing passes twice. */
  async function answered(request: () => Promise<Response>): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const response = await request()
      await response.body?.cancel()
      if (response.status !== 503 || tries === TRIES) return response
      await Bun.sleep(Number(response.headers.get('retry-after')) * 1000)
    }
  }

  function upload(url: string, size: number, headers: Record<string, string>): Promise<Response> {
    const form = new FormData()
    form.set('file', new File([random.bytes(size)], 'file.bin'))
    return fetch(`${url}/api/v1/upload`, { method: 'POST', headers, body: form, keepalive: false })
  }

  const guestAt = (address: string) => ({ 'x-forwarded-for': address })

  async function used(account: ChildAccount): Promise<{ counted: number; bytes: number; reserved: number }> {
    const { database: db } = installation
    const { id, storage_used, storage_reserved } = await db
      .selectFrom('accounts')
      .select(['id', 'storage_used', 'storage_reserved'])
      .where('username', '=', account.username)
      .executeTakeFirstOrThrow()
    const { bytes } = await db
      .selectFrom('files')
      .select(wholeSum(db, 'size').as('bytes'))
      .where('account_id', '=', id)
      .executeTakeFirstOrThrow()
    return { counted: storage_used, bytes, reserved: storage_reserved }
  }

  test('let exactly as many requests of a key pass in an hour as one may make', async () => {
    const headers = bearer(await installation.addAccount('busy'))
    const request = (url: string) => fetch(`${url}/api/v1/account`, { headers })
    expect(await statuses(1100, request)).toEqual({ 200: 1000, 429: 100 })
  })

  test('fill an account with uploads that come at once, and never by a byte more', async () => {
    const full = await installation.addAccount('full')
    const size = 300_000
    const fit = Math.floor(STORAGE_LIMIT / size)
    const request = (_: string, index: number) => upload(nodeOf(index % 2), size, bearer(full))
    expect(await statuses(64, request)).toEqual({ 200: fit, 413: 64 - fit })
    expect(await used(full)).toEqual({ counted: fit * size, bytes: fit * size, reserved: 0 })
  })

  test('take the last byte there is', async () => {
    const exact = await installation.addAccount('exact')
    const request = (_: string, index: number) => upload(nodeOf(index % 2), MIB, bearer(exact))
    expect(await statuses(64, request)).toEqual({ 200: 10, 413: 54 })
    expect(await used(exact)).toEqual({ counted: STORAGE_LIMIT, bytes: STORAGE_LIMIT, reserved: 0 })
  })

  test('keep to the limit with uploads whose length nobody declares', async () => {
    const chunked = await installation.addAccount('chunked')
    const size = 300_000
    const seen = await statuses(64, (_, index) => {
      const boundary = 'holdfast-test-boundary'
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file.bin"\r\n\r\n`
      async function* body() {
        yield Buffer.from(head)
        for (let sent = 0; sent < size; sent += 50_000) {
          yield random.bytes(50_000)
          await Bun.sleep(1)
        }
        yield Buffer.from(`\r\n--${boundary}--\r\n`)
      }
      return fetch(`${nodeOf(index % 2)}/api/v1/upload`, {
        method: 'POST',
        headers: { ...bearer(chunked), 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: body(),
        keepalive: false,
      })
    })
    expect(Object.keys(seen).sort()).toEqual(['200', '413'])
    const bytes = (seen[200] ?? 0) * size
    expect(bytes).toBeLessThanOrEqual(STORAGE_LIMIT)
    expect(await used(chunked)).toEqual({ counted: bytes, bytes, reserved: 0 })
  })

  test('let exactly as many uploads of a guest pass as one address may make', async () => {
    const request = (url: string) => upload(url, 100, guestAt('192.0.2.1'))
    expect(await statuses(60, request)).toEqual({ 200: 20, 429: 40 })
    expect((await upload(nodeOf(0), 100, guestAt('192.0.2.2'))).status).toBe(200)
  })

  test('let exactly as many bytes of a guest pass as one address may send', async () => {
    const request = (url: string) => upload(url, 200_000, guestAt('192.0.2.3'))
    expect(await statuses(15, request)).toEqual({ 200: 5, 429: 10 })
    expect((await upload(nodeOf(0), 200_000, guestAt('192.0.2.4'))).status).toBe(200)
  })

  test('count the guesses at a password of a folder', async () => {
    const alice = await installation.addAccount('alice')
    const { post } = caller(nodeOf(0), alice.apiKey)
    const created = await post('/api/v1/folder', { name: 'locked', public: true, password: 'right' })
    expect(created).toMatchObject({ data: { identifier: expect.any(String) } })
    const [folder] = await caller(nodeOf(1), alice.apiKey).folders()
    const guess = (address: string, password: string) => (url: string) =>
      fetch(`${url}/f/${folder?.id}`, {
        method: 'POST',
        headers: guestAt(address),
        body: new URLSearchParams({ password }),
        redirect: 'manual',
      })
    expect(await statuses(15, guess('192.0.2.5', 'wrong'))).toEqual({ 200: 10, 429: 5 })
    expect(await statuses(3, guess('192.0.2.5', 'right'))).toEqual({ 429: 3 })
    expect(await statuses(3, guess('192.0.2.6', 'right'))).toEqual({ 303: 3 })
  })

  test('refuse a key as soon as it was revoked, and an account as soon as it was disabled', async () => {
    const [revoked, disabled] = [
      await installation.addAccount('revoked'),
      await installation.addAccount('disabled'),
    ]
    const ask = (account: ChildAccount) => (url: string) =>
      fetch(`${url}/api/v1/account`, { headers: bearer(account) })
    expect(await statuses(6, ask(revoked))).toEqual({ 200: 6 })
    await installation.revokeKey('revoked', revoked.apiKey)
    expect(await statuses(6, ask(revoked))).toEqual({ 401: 6 })
    expect(await statuses(6, ask(disabled))).toEqual({ 200: 6 })
    await installation.disableAccount('disabled')
    expect(await statuses(6, ask(disabled))).toEqual({ 403: 6 })
  })

  test('add up the views that each of them has counted', async () => {
    const viewed = await installation.addAccount('viewed')
    const { slug } = await caller(nodeOf(0), viewed.apiKey).upload(random.bytes(100), 'viewed.txt')
    expect(await statuses(60, (url) => fetch(`${url}/d/${slug}`))).toEqual({ 200: 60 })
    const written = async () => {
      const files = installation.database.selectFrom('files').select('views')
      return (await files.where('name', '=', 'viewed.txt').executeTakeFirstOrThrow()).views
    }
    // Until then a count that a node is just writing is to be seen in neither place for a moment.
    await eventually('every view is written', async () => (await written()) >= 60)
    for (const { url } of nodes) expect((await caller(url, viewed.apiKey).detail(slug)).views).toBe(60)
  })

  test('leave sound books behind', async () => {
    await installation.runJobs()
    expect(await unsoundness(installation)).toEqual([])
  })
})
