import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'
import { type Visitor, visitor } from '../support/site-visitor.ts'

const PASSWORD = 'violet kettle anchors drift'
const OTHER_PASSWORD = 'granite lantern under moss'

let host: TestHoldfast

beforeAll(async () => {
  host = await startHoldfast({ signUp: 'open' })
}, 60_000)
afterAll(() => host.stop())

let people = 0

async function newcomer(): Promise<Visitor & { readonly username: string }> {
  const username = `person${++people}`
  const browser = visitor(() => host.url)
  const reply = await browser.send('POST', '/api/v1/account', { username, password: PASSWORD })
  expect(reply.text).toContain('"success":true')
  return { ...browser, username }
}

test('somebody signs up, is signed in, signs out, and signs in again', async () => {
  const browser = await newcomer()
  const me = async () => (await browser.get('/api/v1/session')).error
  expect(await me()).toBeNull()
  expect((await browser.get('/api/v1/account')).data(z.object({ username: z.string() })).username).toBe(
    browser.username,
  )
  expect((await browser.send('DELETE', '/api/v1/session')).status).toBe(200)
  expect(browser.cookies.size).toBe(0)
  expect(await me()).toBe('NOT_SIGNED_IN')
  const reply = await browser.send('POST', '/api/v1/session', {
    username: browser.username.toUpperCase(),
    password: PASSWORD,
  })
  expect(reply.data(z.object({ next: z.string() }))).toEqual({ next: 'signed in' })
  expect(await me()).toBeNull()
})
