/** People sign in by way of another server, whose site is another one, as browsers let them. */
// Only in test:all: test/cluster/accounts/sign-in has the same by its interface.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { describeInBrowser, openPage, type Visit } from '../support/browser/browser.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { CLIENT, type OidcServer, startOidcServer } from '../support/sign-in/oidc-server.ts'

describeInBrowser('signing in by another server', (browser) => {
  let host: TestHoldfast
  let other: OidcServer
  beforeAll(async () => {
    other = await startOidcServer(
      () => `${host.url}/sign-in/oauth2/callback/oidc`,
      (subject) => subject,
    )
    host = await startHoldfast({ oidc: { issuer: other.issuer, name: 'Home', ...CLIENT } })
  }, 120_000)
  afterAll(async () => {
    await host.stop()
    await other[Symbol.asyncDispose]()
  })

  /** A page that may speak with the other server besides; what that one asks of third ones is left unanswered. */
  async function opened(): Promise<Visit> {
    const visit = await openPage(browser(), host.url)
    const known = [host.url, other.issuer]
    await visit.page.route(
      ({ origin }) => !known.includes(origin),
      (route) => route.abort(),
    )
    return visit
  }

  const ours = ({ trouble }: Visit) => trouble().filter((each) => !each.startsWith('asked another host'))
  const press = (page: Page) => page.getByRole('link', { name: 'Sign in with Home' }).click()
  const goOn = (page: Page) => page.locator('button[type=submit]').click()

  async function signInThere(page: Page, name: string): Promise<void> {
    await page.waitForURL(`${other.issuer}/**`)
    await page.locator('input[name=login]').fill(name)
    await page.locator('input[name=password]').fill('any')
    await goOn(page)
    await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' })
    await goOn(page)
  }

  test('ends at the files, and later where somebody wanted to go', async () => {
    await using visit = await opened()
    const { page } = visit
    await page.goto('/sign-in')
    await press(page)
    await signInThere(page, 'grace')
    await page.waitForURL(`${host.url}/files`)
    expect(await page.locator('.who').first().textContent()).toBe('grace')
    const cookies = await page.context().cookies(host.url)
    expect(cookies.find(({ name }) => name === 'holdfast.session_token')).toMatchObject({
      sameSite: 'Lax',
      httpOnly: true,
    })
    // What the file manager is still asking for would be answered with 401 once the session has ended.
    await page.getByText('Nothing here yet').waitFor()
    await page.goto('/')
    await page.getByText('grace', { exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.goto('/settings/keys')
    await page.waitForURL(`${host.url}/sign-in?next=%2Fsettings%2Fkeys`)
    await press(page)
    // The other server remembers who is there.
    await page.waitForURL(`${host.url}/settings/keys`)
    expect(await page.locator('.who').first().textContent()).toBe('grace')
    expect(ours(visit)).toEqual([])
  })

  test('says what is wrong when somebody thinks better of it there', async () => {
    await using visit = await opened()
    const { page } = visit
    await page.goto('/sign-in')
    await press(page)
    await page.waitForURL(`${other.issuer}/**`)
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'Signing in failed' }).waitFor()
    expect(page.url()).toStartWith(`${host.url}/`)
    expect(ours(visit)).toEqual([])
  })
})
