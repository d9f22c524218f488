/** The reference of the API, as people read and try it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  accessibilityFaults,
  describeInBrowser,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser.ts'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'

describeInBrowser('the reference of the API', (browser) => {
  let host: TestHoldfast
  let key: string
  beforeAll(async () => {
    host = await startHoldfast()
    key = (await host.addAccount('ada')).apiKey
  })
  afterAll(() => host.stop())

  async function opened(page: Page): Promise<void> {
    await page.goto('/docs')
    await page.waitForSelector('.opblock')
  }

  /** All that the document has but the pages for people, whether in the window or not. */
  async function routesOfPrograms(page: Page): Promise<string[]> {
    const answer = await page.request.get('/api/v1/openapi.json')
    const { paths }: { paths: Record<string, Record<string, { tags?: string[] }>> } = await answer.json()
    return Object.entries(paths)
      .flatMap(([path, operations]) =>
        Object.entries(operations)
          .filter(([, { tags }]) => tags !== undefined && !tags.includes('Site'))
          .map(([method]) => `${method.toUpperCase()} ${path}`),
      )
      .sort()
  }

  /** What is in the page, each as `GET /path`. */
  async function routesShown(page: Page): Promise<string[]> {
    const methods = await page.locator('.opblock-summary-method').allTextContents()
    const paths = await page.locator('.opblock-summary [data-path]').allTextContents()
    // Long paths may break at marks of no width.
    return methods.map((method, at) => `${method} ${paths[at]?.replaceAll('\u200b', '')}`).sort()
  }

  test.each([
    ['in the light', {}],
    ['in the dark on a phone', { ...PHONE, colorScheme: 'dark' }],
  ] as const)('is whole %s: no fault, no other host, nothing beside the window', async (_, options) => {
    await using visit = await openPage(browser(), host.url, { reducedMotion: 'reduce', ...options })
    const { page, trouble } = visit
    await opened(page)
    expect(await routesShown(page)).toEqual(await routesOfPrograms(page))
    const small = async () => ('hasTouch' in options ? await smallTargets(page) : [])
    expect(await small()).toEqual([])
    // One with choices, one with a body, one with a form, first as they are read and then as they are tried.
    const routes = [/get \/api\/v1\/files List/i, /post \/api\/v1\/folder /i, /post \/api\/v1\/upload /i]
    for (const route of routes) {
      await page.getByRole('button', { name: route }).first().click()
    }
    await page.locator('.opblock.is-open .responses-inner').nth(2).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    for (const _ of routes) await page.getByRole('button', { name: 'Try it out' }).first().click()
    for (const field of ['sort', 'Request body', 'file']) {
      await page.locator('.is-open').getByLabel(field, { exact: true }).first().waitFor()
    }
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await small()).toEqual([])
    expect(await pixelsBeside(page)).toBe(0)
    expect(trouble()).toEqual([])
  })

  test('sends what is tried with the key that was given', async () => {
    await using visit = await openPage(browser(), host.url)
    const { page, trouble } = visit
    await opened(page)
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.locator('.auth-container input').fill(key)
    await page.locator('.modal-ux .authorize:visible').click()
    await page.locator('.modal-ux .btn-done:visible').click()
    await page.getByRole('button', { name: /get \/api\/v1\/account /i }).click()
    await page.getByRole('button', { name: 'Try it out' }).click()
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.waitForSelector('.live-responses-table .response')
    expect(await page.locator('.live-responses-table').textContent()).toContain('"username": "ada"')
    expect(trouble()).toEqual([])
  })

  test('is found from the start page, and leads to the guides', async () => {
    await using visit = await openPage(browser(), host.url, { locale: 'de' })
    const { page, trouble } = visit
    const scripts: string[] = []
    page.on('request', (request) => scripts.push(request.url()))
    await page.goto('/')
    expect(scripts.filter((url) => url.includes('reference'))).toEqual([])
    await page.getByRole('link', { name: 'Für Programme: die API' }).click()
    await page.waitForSelector('.opblock')
    await page.getByRole('link', { name: 'ShareX' }).click()
    expect(await page.locator('article h1').textContent()).toBe('ShareX')
    expect(await accessibilityFaults(page)).toEqual([])
    expect(trouble()).toEqual([])
  })
})
