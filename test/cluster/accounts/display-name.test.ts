import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { signedIn } from '../../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'
import { administrator } from '../../support/sign-in/administrator.ts'

const names = z.object({ username: z.string(), display_name: z.string().nullable() })

describe('a display name', () => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast()
  })
  afterAll(() => host.stop())

  test('is set and taken off by its owner, and seen by the API, the session and administrators', async () => {
    const { username, id } = await host.addAccount()
    const owner = await signedIn(host, username)
    const root = await administrator(host)
    const set = (name: unknown) => owner.send('PATCH', '/api/v1/account', { display_name: name })
    expect((await set(' Ann Lee\u202E')).data(names)).toEqual({ username, display_name: 'Ann Lee' })
    for (const [viewer, path] of [
      [owner, '/api/v1/account'],
      [owner, '/api/v1/session'],
      [root, `/api/v1/admin/account/${id}`],
    ] as const) {
      expect((await viewer.get(path)).data(names)).toEqual({ username, display_name: 'Ann Lee' })
    }
    for (const wrong of ['x'.repeat(65), 'a\tb']) expect((await set(wrong)).error).toBe('INVALID_NAME')
    expect((await set(5)).error).toBe('INVALID_REQUEST')
    expect((await set('')).data(names).display_name).toBeNull()
    expect((await set(null)).data(names).display_name).toBeNull()
  })
})
