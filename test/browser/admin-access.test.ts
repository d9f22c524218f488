/** Administration for everybody: by keyboard alone, and without a fault in what opens, is empty or fails. */
// Only in test:all: admin.test.ts opens the same pages.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import {
  describeInBrowser,
  faultsInBothColours,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser/browser.ts'
import { enterAt, tabTo } from '../support/browser/keyboard.ts'
import { openPageAs } from '../support/browser/signed-in-page.ts'
import { api as caller } from '../support/clients/api.ts'
import { GENEROUS, textBytes, upload } from '../support/clients/public.ts'
import { signedIn } from '../support/clients/site-visitor.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { administrator, type TestAdministrator } from '../support/sign-in/administrator.ts'

describeInBrowser('administration', (browser) => {
  let host: TestHoldfast
  let root: TestAdministrator
  beforeAll(async () => {
    host = await startHoldfast({ ...GENEROUS, sessionRateLimit: 1_000_000 })
    root = await administrator(host)
  }, 120_000)
  afterAll(() => host.stop())

  const openAs = (options = {}) =>
    openPageAs(browser(), host.url, root, { reducedMotion: 'reduce', ...options })
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const said = (page: Page, text: string) => page.locator('.notice').filter({ hasText: text }).waitFor()

  async function expectNoFault(page: Page, what: string): Promise<void> {
    const faults = await faultsInBothColours(page)
    const found = { faults, beside: await pixelsBeside(page), small: await smallTargets(page) }
    expect({ what, ...found }).toEqual({ what, faults: [], beside: 0, small: [] })
  }

  test.each([
    ['/accounts?search=nobody', ['No account matches.']],
    ['/reports', ['No reports.', 'Nothing is blocked.']],
    ['/files', ['There are no files yet.']],
    ['/audit?act=notice.cleared', ['Nothing yet.']],
  ])('has no fault where %s is empty, and says so', async (path, texts) => {
    await using opened = await openAs(PHONE)
    const { page } = opened
    await page.goto(`/admin${path}`)
    for (const text of texts) await page.locator('.paged p.quiet').filter({ hasText: text }).waitFor()
    await expectNoFault(page, path)
    expect(opened.trouble()).toEqual([])
  })

  test('has no fault where the server cannot be reached, and tries again', async () => {
    await using opened = await openAs(PHONE)
    const { page } = opened
    for (const section of ['', '/accounts?account=1', '/reports', '/jobs']) {
      await page.route('**/api/v1/admin/**', (route) => route.abort())
      await page.goto(`/admin${section}`)
      await page.getByRole('alert').filter({ hasText: 'The server cannot be reached' }).first().waitFor()
      await expectNoFault(page, section)
      await page.unroute('**/api/v1/admin/**')
      const again = button(page, 'Try again')
      for (let left = await again.count(); left > 0; left = await again.count()) {
        await again.first().click()
        await eventually('it is there', async () => (await again.count()) < left)
      }
      await page.getByRole('alert').waitFor({ state: 'detached' })
    }
    expect(opened.trouble()).toEqual([])
  })

  test('has no fault in its dialogs, and says of what is typed wrongly', async () => {
    const { id, apiKey: key } = await host.addAccount('opal')
    const { slug, sha256 } = await upload(host, { key, name: 'seen.txt', bytes: textBytes('seen') })
    await caller(host).post('/api/v1/file/report', { slug, reason: 'spam' })
    const refused = new Bun.CryptoHasher('sha256').update('not here').digest('hex')
    await root.act('POST', '/take-down', { sha256: refused })
    await using opened = await openAs(PHONE)
    const { page } = opened
    const dialog = page.getByRole('dialog')
    const account = `/admin/accounts?account=${id}`
    for (const [path, opener] of [
      ['/admin/accounts', 'Invite somebody'],
      [account, 'Disable'],
      [account, 'Make administrator'],
      [account, 'Reset'],
      [account, 'Delete the account …'],
      ['/admin/reports', 'Take down “seen.txt”'],
      ['/admin/reports', `Allow ${refused.slice(0, 12)}…`],
      ['/admin/files', 'Take down “seen.txt”'],
    ] as const) {
      await page.goto(path)
      await button(page, opener).click()
      await dialog.waitFor()
      await expectNoFault(page, opener)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      // Who works by keyboard goes on where they were.
      await button(page, opener).and(page.locator(':focus')).waitFor()
    }

    await page.goto('/admin/accounts')
    await button(page, 'Invite somebody').click()
    await dialog.getByRole('button', { name: 'Invite somebody' }).click()
    await dialog.locator('code').waitFor()
    await expectNoFault(page, 'the invitation')

    await page.goto(account)
    await page.getByLabel('Storage limit').fill('twenty')
    const quota = page.locator('form', { has: page.getByLabel('Storage limit') })
    await quota.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').waitFor()
    await expectNoFault(page, 'a wrong quota')
    await page.goto('/admin/reports')
    await page.getByLabel('Link to a file').fill('neither nor')
    await button(page, 'Take down').click()
    await page.getByRole('alert').waitFor()
    await expectNoFault(page, 'a wrong hash')
    expect((await root.get(`/d/${slug}`)).status).toBe(200)
    const reported = z.array(z.object({ file: z.object({ sha256: z.string() }) }))
    expect(await root.read('/reports', reported)).toEqual([{ file: { sha256 } }])
    expect(opened.trouble()).toEqual([])
  })

  test('is worked by keyboard alone: an account gets its quota, and a report is taken down', async () => {
    const { username, apiKey: key } = await host.addAccount('keys')
    const person = await signedIn(host, username)
    const { slug } = await upload(host, { key, name: 'bad.txt', bytes: textBytes('bad') })
    await caller(host).post('/api/v1/file/report', { slug, reason: 'malware' })
    await using opened = await openAs()
    const { page } = opened
    const focus = page.locator(':focus')
    await page.goto('/admin')
    await enterAt(page, page.getByRole('navigation').getByRole('link', { name: 'Accounts' }))
    await page.waitForURL(`${host.url}/admin/accounts`)
    await tabTo(page, page.getByLabel('Search by name'))
    await page.keyboard.type(username)
    await page.keyboard.press('Enter')
    await page.waitForURL(/search=keys/)
    await page.getByRole('link', { name: username, exact: true }).waitFor()
    await enterAt(page, page.getByRole('link', { name: username, exact: true }))
    await page.waitForURL(/account=/)
    await page.getByLabel('Storage limit').waitFor()
    await tabTo(page, page.getByLabel('Storage limit'))
    await page.keyboard.type('7 MB')
    await page.keyboard.press('Enter')
    await said(page, 'The quota of “keys” is saved')
    const own = z.object({ storage_limit: z.number() })
    expect((await person.get('/api/v1/account')).data(own).storage_limit).toBe(7 * 1024 ** 2)

    // What is opened by mistake is closed again, and nothing has come of it.
    await enterAt(page, button(page, 'Disable'))
    await page.getByRole('dialog').waitFor()
    await page.getByRole('dialog').locator(':focus').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await focus.filter({ hasText: /^Disable$/ }).waitFor()
    expect((await person.get('/api/v1/session')).status).toBe(200)

    await page.keyboard.press('Control+Home')
    await enterAt(page, page.getByRole('navigation').getByRole('link', { name: 'Reports' }), 120)
    await page.waitForURL(`${host.url}/admin/reports`)
    await button(page, 'Take down “bad.txt”').waitFor()
    await enterAt(page, button(page, 'Take down “bad.txt”'))
    await enterAt(page, page.getByRole('dialog').getByRole('button', { name: 'Take down' }))
    await said(page, '1 file was taken down')
    await button(page, 'Take down “bad.txt”').waitFor({ state: 'detached' })
    await page.locator('.part :focus').waitFor()
    expect((await fetch(`${host.url}/d/${slug}`)).status).toBe(404)
    expect(opened.trouble()).toEqual([])
  })

  test('offers no invitation where nobody can sign up', async () => {
    const closed = await startHoldfast({ signUp: 'closed' })
    try {
      const ruler = await administrator(closed)
      await using opened = await openPageAs(browser(), closed.url, ruler)
      const { page } = opened
      await page.goto('/admin/accounts')
      await page.getByRole('link', { name: 'root' }).waitFor()
      expect(await button(page, 'Invite somebody').count()).toBe(0)
      expect(opened.trouble()).toEqual([])
    } finally {
      await closed.stop()
    }
  })
})
