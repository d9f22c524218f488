import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { DAY, HOUR, timestamp } from '../../../src/domain/clock.ts'
import { type Api, api, newcomer, refusal } from '../../support/clients/api.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

const accountShape = z.object({
  data: z.object({
    storage_used: z.number(),
    storage_limit: z.number(),
    files_count: z.number(),
    folders_count: z.number(),
    api_requests_today: z.number(),
  }),
})

async function account(caller: Api) {
  return accountShape.parse((await caller.get('/api/v1/account')).body).data
}

describe('the account', () => {
  let holdfast: TestHoldfast
  beforeAll(async () => {
    holdfast = await startHoldfast()
  })
  afterAll(() => holdfast.stop())

  test('is described with every field', async () => {
    const { id, username, apiKey } = await holdfast.addAccount('ada.lovelace')
    const answer = await api(holdfast, apiKey).get('/api/v1/account')
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      data: {
        id,
        username,
        display_name: null,
        storage_used: 0,
        storage_limit: 10 * 1024 ** 3,
        files_count: 0,
        folders_count: 0,
        api_requests_today: 1,
        storage_in_bin: 0,
      },
    })
    expect(username).toBe('ada.lovelace')
  })

  test('has a user name in lower case', async () => {
    const { apiKey } = await holdfast.addAccount('Grace_Hopper-2')
    const { body } = await api(holdfast, apiKey).get('/api/v1/account')
    expect(body).toMatchObject({ data: { username: 'grace_hopper-2' } })
  })

  test('counts what is stored, exactly and at once', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    await caller.folder('inner', { parent: outer })
    const file = await caller.put('12345', { folder: outer })
    await caller.put('12345')
    expect(await account(caller)).toMatchObject({ storage_used: 10, files_count: 2, folders_count: 2 })
    await caller.post('/file/delete', { identifiers: [file.slug] })
    expect(await account(caller)).toMatchObject({ storage_used: 5, files_count: 1, folders_count: 2 })
    await caller.post('/folder/delete', { identifiers: [outer] })
    expect(await account(caller)).toMatchObject({ storage_used: 5, files_count: 1, folders_count: 0 })
  })

  test('counts nothing for uploads that failed, and nothing of others', async () => {
    const caller = await newcomer(holdfast)
    await caller.upload('x', { folder: 'a'.repeat(16) })
    await caller.uploadParts([{ disposition: 'name="other"; filename="a"', content: 'x' }])
    await (await newcomer(holdfast)).put('foreign')
    await api(holdfast).put('guest')
    expect(await account(caller)).toMatchObject({ storage_used: 0, files_count: 0, folders_count: 0 })
  })
})

describe('the requests of today', () => {
  test('are counted over all keys since midnight UTC', async () => {
    const holdfast = await startHoldfast()
    try {
      const untilMidnight = DAY - (holdfast.clock.now() % DAY)
      holdfast.clock.advance(untilMidnight + HOUR)
      const { username, apiKey } = await holdfast.addAccount()
      const caller = api(holdfast, apiKey)
      const before = (await account(caller)).api_requests_today
      await caller.get('/api/v1/files')
      await caller.get('/api/v1/file/Abcdefghijkl')
      await api(holdfast, await holdfast.addKey(username)).get('/api/v1/folders')
      await holdfast.settle()
      expect((await account(caller)).api_requests_today).toBe(before + 4)
      holdfast.clock.advance(22 * HOUR)
      await holdfast.runJobs()
      expect((await account(caller)).api_requests_today).toBe(before + 5)
      holdfast.clock.advance(2 * HOUR)
      expect((await account(caller)).api_requests_today).toBe(before)
    } finally {
      await holdfast.stop()
    }
  })
})

describe('the requests of 30 days', () => {
  test('are told day by day in UTC, and the last one is today', async () => {
    const holdfast = await startHoldfast()
    try {
      const day = z.object({ day: z.string(), requests: z.number() })
      const shape = z.object({ data: z.object({ days: z.array(day).length(30) }) })
      const { apiKey } = await holdfast.addAccount()
      const caller = api(holdfast, apiKey)
      const days = async () => shape.parse((await caller.get('/api/v1/account/requests')).body).data.days
      const dayOf = (ago: number) => timestamp(holdfast.clock.now() - ago * DAY).slice(0, 10)
      await days()
      await holdfast.settle()
      expect((await days()).at(-1)).toEqual({ day: dayOf(0), requests: 2 })
      await holdfast.runJobs()
      holdfast.clock.advance(29 * DAY)
      const later = await days()
      expect(later[0]).toEqual({ day: dayOf(29), requests: 2 })
      expect(later.slice(1).map(({ requests }) => requests)).toEqual([...Array(28).fill(0), 1])
      holdfast.clock.advance(DAY)
      await holdfast.settle()
      expect((await days()).map(({ requests }) => requests)).toEqual([...Array(28).fill(0), 1, 1])
    } finally {
      await holdfast.stop()
    }
  })
})

describe('the storage of an account', () => {
  const SIZE = 20_000
  const content = (index: number) => Buffer.alloc(SIZE, `${index};`)
  let holdfast: TestHoldfast
  beforeAll(async () => {
    holdfast = await startHoldfast({ storageLimit: 20 * SIZE })
  })
  afterAll(() => holdfast.stop())

  test('has the limit of the settings', async () => {
    expect((await account(await newcomer(holdfast))).storage_limit).toBe(20 * SIZE)
  })

  test.each([
    ['with a length', false],
    ['without a length', true],
  ])('takes an upload %s up to the last byte, and not one more', async (_, chunked) => {
    const caller = await newcomer(holdfast)
    await caller.put(Buffer.alloc(20 * SIZE - 1), { chunked })
    expect(await caller.upload('12', { chunked })).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    expect(await account(caller)).toMatchObject({ storage_used: 20 * SIZE - 1, files_count: 1 })
    await caller.put('1', { chunked })
    expect(await account(caller)).toMatchObject({ storage_used: 20 * SIZE, files_count: 2 })
    await caller.put('', { chunked })
    expect(await caller.upload('1', { chunked })).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
  })

  test('is free again at once after a delete', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put(Buffer.alloc(20 * SIZE))
    expect(await caller.upload('1')).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    await caller.post('/file/delete', { identifiers: [slug] })
    await caller.put(Buffer.alloc(20 * SIZE))
  })

  test('counts equal content as often as it is uploaded', async () => {
    const caller = await newcomer(holdfast)
    await caller.put(Buffer.alloc(15 * SIZE))
    expect(await caller.upload(Buffer.alloc(15 * SIZE))).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
  })

  test('is each account’s own', async () => {
    await (await newcomer(holdfast)).put(Buffer.alloc(20 * SIZE))
    await (await newcomer(holdfast)).put(Buffer.alloc(20 * SIZE))
  })

  test('is filled by 64 uploads at once to the last byte that fits, and never passed', async () => {
    const caller = await newcomer(holdfast)
    const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => caller.upload(content(index))))
    const refused = answers.filter((answer) => answer.status !== 200)
    for (const answer of refused) expect(answer).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    expect(await account(caller)).toMatchObject({ storage_used: 20 * SIZE, files_count: 20 })
    expect(refused).toHaveLength(44)
  })

  test('is never passed by 64 uploads at once without a length, and what is left can still be used', async () => {
    const caller = await newcomer(holdfast)
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => caller.upload(content(index), { chunked: true })),
    )
    const stored = answers.filter((answer) => answer.status === 200).length
    for (const answer of answers) {
      if (answer.status !== 200) expect(answer).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    }
    expect(stored).toBeLessThanOrEqual(20)
    expect(await account(caller)).toMatchObject({ storage_used: stored * SIZE, files_count: stored })
    for (let index = stored; index < 20; index += 1) await caller.put(content(index), { chunked: true })
    expect(await caller.upload('1', { chunked: true })).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    expect(await account(caller)).toMatchObject({ storage_used: 20 * SIZE, files_count: 20 })
  })

  test('is not used up by uploads that failed', async () => {
    const caller = await newcomer(holdfast)
    for (let index = 0; index < 20; index += 1) {
      const answer = await caller.uploadParts([
        { disposition: 'name="file"; filename="a"', content: content(1) },
        { disposition: 'name="file"; filename="b"', content: content(2) },
      ])
      expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    }
    await caller.put(Buffer.alloc(20 * SIZE))
  })
})
