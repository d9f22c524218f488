import { describe, expect, test } from 'bun:test'
import { MINUTE } from '../../../../src/domain/clock.ts'
import { isOfApi } from '../../../../src/server/router.ts'
import { routes } from '../../../../src/server/routes.ts'
import { type Answer, api, newcomer, refusal, withHoldfast } from '../../../support/clients/api.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

/** Limit, remaining and reset as the headers tell them, after a check that both kinds of header agree. */
function rate({ headers }: Answer) {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => {
    const value = headers.get(`ratelimit-${name}`) ?? ''
    expect(value).toMatch(/^\d+$/)
    expect(headers.get(`x-ratelimit-${name}`)).toBe(value)
    return Number(value)
  })
  return { limit, remaining, reset }
}

const UPLOAD = '/api/v1/uploads/{upload}'
const OVERRIDE = 'x-http-method-override'

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** Each route of the API, and what no route answers. */
function everyRequest(): Asked[] {
  const named = routes.filter(({ path }) => isOfApi(path))
  const others = [
    ['HEAD', '/api/v1/files'],
    ['HEAD', UPLOAD],
    ['PUT', UPLOAD],
    ['OPTIONS', '/api/v1/files'],
    ['OPTIONS', '/api/v1//files/'],
    ['DELETE', '/api/v1/admin/jobs'],
    ['GET', '/api/v1'],
  ] as const
  const asked = [...named.map(({ method, path }) => [method.toUpperCase(), path] as const), ...others]
  return [
    ...asked.map(([method, path]) => ({ method, path, headers: {} })),
    ...['PATCH', 'HEAD'].map((meant) => ({ method: 'POST', path: UPLOAD, headers: { [OVERRIDE]: meant } })),
  ]
}

function carriesBytes(method: string, path: string, headers: Asked['headers']): boolean {
  return path === UPLOAD && (method === 'PATCH' || headers[OVERRIDE] === 'PATCH')
}

const unset = await hostOfFile()
const atOne = await hostOfFile({ rateLimit: 1 })
const atThree = await hostOfFile({ rateLimit: 3 })

describe('the rate of a key', () => {
  test('is 1000 an hour without a setting', async () => {
    const answer = await (await newcomer(unset)).get('/api/v1/account')
    expect(rate(answer)).toMatchObject({ limit: 1000, remaining: 999 })
  })

  test('is told on every answer to a key, whatever its status', () =>
    withHoldfast({ rateLimit: 100 }, async (holdfast) => {
      const caller = await newcomer(holdfast)
      const { slug } = await caller.put('x')
      const answers = [
        await caller.upload('x'),
        await caller.upload('x', { folder: 'a'.repeat(16) }),
        await caller.get('/api/v1/files?page=0'),
        await caller.get(`/api/v1/file/${slug}`),
        await caller.get('/api/v1/file/Abcdefghijkl'),
        await caller.post('/file/delete', { identifiers: [slug] }),
        await caller.get('/api/v1/nothing'),
        await caller.get('/api/v1/file/move'),
        await caller.post('/api/v1/files', {}),
        await caller.get('/folder/delete'),
      ]
      expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 200, 404, 200, 404, 404, 405, 405])
      expect(answers.map((answer) => rate(answer).remaining)).toEqual(answers.map((_, index) => 98 - index))
    }))

  test('counts every request to the API but those that carry bytes of a resumable upload', async () => {
    const { apiKey } = await unset.addAccount()
    let left = 1000
    for (const { method, path, headers } of everyRequest()) {
      const address = unset.url + path.replaceAll(/\{\w+\}/g, '0')
      const response = await fetch(address, {
        method,
        headers: { ...headers, authorization: `Bearer ${apiKey}` },
      })
      const remaining = Number(response.headers.get('ratelimit-remaining') ?? Number.NaN)
      // Events have no end.
      await response.body?.cancel()
      if (!carriesBytes(method, path, headers)) left--
      expect({ method, path, remaining }).toEqual({ method, path, remaining: left })
    }
  })

  test('that is used up refuses requests to addresses that need no key, and a key that is none changes nothing', async () => {
    const caller = await newcomer(atOne)
    expect(await caller.get('/api/v1/notice')).toMatchObject({ status: 200 })
    for (const path of ['/api/v1/notice', '/api/v1/nothing']) {
      expect(await caller.get(path)).toMatchObject(refusal('RATE_LIMITED'))
    }
    const unknown = await api(atOne, `hf_${'a'.repeat(43)}`).get('/api/v1/notice')
    expect([unknown.status, unknown.headers.get('ratelimit-limit')]).toEqual([200, null])
  })

  test('beyond it is refused until the window of an hour since the first request is over', async () => {
    const caller = await newcomer(atThree)
    await caller.get('/api/v1/account')
    atThree.clock.advance(50 * MINUTE)
    await caller.get('/api/v1/file/Abcdefghijkl')
    const last = await caller.get('/api/v1/files')
    expect(rate(last)).toMatchObject({ limit: 3, remaining: 0 })
    expect(rate(last).reset).toBeGreaterThan(0)
    expect(rate(last).reset).toBeLessThanOrEqual(600)
    const refused = await caller.get('/api/v1/account')
    expect(refused).toMatchObject(refusal('RATE_LIMITED'))
    expect(rate(refused)).toMatchObject({ limit: 3, remaining: 0 })
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(600)
    for (const answer of [await caller.upload('x'), await caller.post('/api/v1/folder', { name: 'x' })]) {
      expect(answer).toMatchObject(refusal('RATE_LIMITED'))
    }
    atThree.clock.advance(wait * 1000)
    expect(rate(await caller.get('/api/v1/files'))).toMatchObject({ remaining: 2 })
  })

  test('goes on where it was after a restart', async () => {
    const caller = await newcomer(atThree)
    await caller.get('/api/v1/account')
    await caller.get('/api/v1/account')
    await atThree.restart()
    expect(rate(await caller.get('/api/v1/account')).remaining).toBe(0)
    expect(await caller.get('/api/v1/account')).toMatchObject(refusal('RATE_LIMITED'))
  })

  test('is each key’s own, also within an account', async () => {
    const { apiKey, username } = await atOne.addAccount()
    await api(atOne, apiKey).get('/api/v1/account')
    expect(await api(atOne, apiKey).get('/api/v1/account')).toMatchObject(refusal('RATE_LIMITED'))
    const second = api(atOne, await atOne.addKey(username))
    expect(await second.get('/api/v1/account')).toMatchObject({ status: 200 })
    expect(await (await newcomer(atOne)).get('/api/v1/account')).toMatchObject({ status: 200 })
  })

  test('is not walked around by making keys: all of an account together have a ceiling, revoked ones too', () =>
    withHoldfast({ rateLimit: 3, accountRateFactor: 2 }, async (holdfast) => {
      const { username, apiKey } = await holdfast.addAccount()
      const [first, other] = [api(holdfast, apiKey), await newcomer(holdfast)]
      for (let request = 0; request < 3; request++) await first.get('/api/v1/account')
      await holdfast.revokeKey(apiKey)
      holdfast.clock.advance(30 * MINUTE)
      const [second, third] = [
        api(holdfast, await holdfast.addKey(username)),
        api(holdfast, await holdfast.addKey(username)),
      ]
      // The key's own rate is told, and of what is left the lesser.
      expect(rate(await second.get('/api/v1/account'))).toMatchObject({ limit: 3, remaining: 2 })
      expect(rate(await third.get('/api/v1/account'))).toMatchObject({ limit: 3, remaining: 1 })
      expect(rate(await second.get('/api/v1/account'))).toMatchObject({ limit: 3, remaining: 0 })
      const refused = await third.get('/api/v1/account')
      expect(refused).toMatchObject(refusal('RATE_LIMITED'))
      expect(refused.body).toMatchObject({ message: expect.stringContaining('All keys of this account') })
      expect(rate(refused)).toMatchObject({ limit: 3, remaining: 0 })
      expect(rate(refused).reset).toBeLessThanOrEqual(1800)
      expect((await other.get('/api/v1/account')).status).toBe(200)
      // What was refused counts for neither: with the account's window over, the key has what it had.
      holdfast.clock.advance(30 * MINUTE)
      expect(rate(await third.get('/api/v1/account'))).toMatchObject({ limit: 3, remaining: 1 })
    }))

  test('does not touch guests and health', async () => {
    const guest = api(atOne)
    for (let index = 0; index < 3; index += 1) {
      expect(await guest.upload('x')).toMatchObject({ status: 200 })
      expect(await guest.get('/health')).toMatchObject({ status: 200 })
    }
  })

  test('that is used up refuses an upload before anything is stored', async () => {
    const { apiKey, username } = await atOne.addAccount()
    await api(atOne, apiKey).get('/api/v1/account')
    expect(await api(atOne, apiKey).upload('x')).toMatchObject(refusal('RATE_LIMITED'))
    const { body } = await api(atOne, await atOne.addKey(username)).get('/api/v1/account')
    expect(body).toMatchObject({ data: { files_count: 0, storage_used: 0 } })
  })
})
