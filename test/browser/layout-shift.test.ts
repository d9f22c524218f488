/** Pages whose script asks for what they show: answers that come late move next to nothing. */
// Only in test:all: site.test.ts opens every page.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { describeInBrowser } from '../support/browser/browser.ts'
import { openPageAs } from '../support/browser/signed-in-page.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { administrator, type TestAdministrator } from '../support/sign-in/administrator.ts'

const PATHS = [
  ...['', '/keys', '/security', '/account'].map((section) => `/settings${section}`),
  ...['', '/accounts', '/reports', '/files', '/jobs', '/notice', '/settings', '/audit'].map(
    (section) => `/admin${section}`,
  ),
]

/** As a slow network has it: placeholders are drawn and have faded in before anything comes. */
const LATE = 600

const COLLECT = `
  globalThis.shifts = []
  new PerformanceObserver((list) => shifts.push(...list.getEntries().map((it) => it.value)))
    .observe({ type: 'layout-shift', buffered: true })`

/** Entries are handed out after the frame that they are about. */
const COLLECTED = `new Promise((resolve) => requestAnimationFrame(() => setTimeout(() =>
  resolve(shifts.reduce((sum, it) => sum + it, 0)), 50)))`

describeInBrowser('settings and administration', (browser) => {
  let host: TestHoldfast
  let root: TestAdministrator
  beforeAll(async () => {
    host = await startHoldfast()
    root = await administrator(host)
  }, 120_000)
  afterAll(() => host.stop())

  test('shift by less than 0.02 while what they show comes late', async () => {
    await using visit = await openPageAs(browser(), host.url, root)
    const { page } = visit
    await page.addInitScript(COLLECT)
    const asked = new Set<string>()
    await page.route('**/api/**', async (route) => {
      asked.add(new URL(route.request().url()).pathname)
      await Bun.sleep(LATE)
      await route.continue()
    })
    const found: Record<string, number> = {}
    for (const path of PATHS) {
      // All of the page may take longer than the placeholders stand.
      await page.goto(path, { waitUntil: 'commit' })
      await page.waitForSelector('.coming')
      await page.waitForSelector('.coming', { state: 'detached' })
      found[path] = z.number().parse(await page.evaluate(COLLECTED))
    }
    expect(Object.entries(found).filter(([, shift]) => shift >= 0.02)).toEqual([])
    // The page knows that there is nothing to set: no part is there only to go again.
    expect([...asked]).not.toContain('/api/v1/account/mail')
    expect(visit.trouble()).toEqual([])
  })
})
