import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { HOUR } from '../../../src/domain/clock.ts'
import { api } from '../../support/clients/api.ts'
import { onCluster, startHoldfast } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

describe('health', () => {
  test('is told to anybody, with status, time and service', async () => {
    const answer = await api(holdfast).get('/health')
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      status: 'ok',
      timestamp: expect.any(Number),
      service: expect.stringMatching(/./),
    })
  })

  test('tells the time in whole Unix seconds', async () => {
    const shape = z.object({ timestamp: z.int() })
    holdfast.clock.advance(HOUR)
    const before = Math.floor(holdfast.clock.now() / 1000)
    const { timestamp } = shape.parse((await api(holdfast).get('/health')).body)
    const after = Math.floor(holdfast.clock.now() / 1000)
    expect(timestamp).toBeGreaterThanOrEqual(before)
    expect(timestamp).toBeLessThanOrEqual(after)
  })

  test('needs no key, and does not mind a wrong one', async () => {
    expect(await api(holdfast, 'hf_unknown').get('/health')).toMatchObject({ status: 200 })
  })
})

test('metrics are told to nobody unless they are switched on', async () => {
  expect(await api(holdfast).get('/metrics')).toMatchObject({ status: 404 })
})

describe('readiness', () => {
  test('is 200 while database and blob store answer', async () => {
    expect(await api(holdfast).get('/ready')).toMatchObject({
      status: 200,
      body: { status: 'ready', database: 'ok', store: 'ok', uploads: true, guest_uploads: true },
    })
  })

  test.skipIf(onCluster)('stays 200 on a full disk, and says that uploads are refused', async () => {
    const full = await startHoldfast({ minFreeSpace: 2 ** 60 })
    try {
      const { apiKey } = await full.addAccount()
      expect(await api(full, apiKey).upload('x')).toMatchObject({ status: 503 })
      expect(await api(full).get('/ready')).toMatchObject({
        status: 200,
        body: { status: 'ready', uploads: false, guest_uploads: false },
      })
    } finally {
      await full.stop()
    }
  })
})
