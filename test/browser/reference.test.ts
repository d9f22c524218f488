/** The reference of the API, as people read and try it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { accessibilityFaults, describeInBrowser, openPage, PHONE, pixelsBeside } from '../support/browser.ts'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'

/** What Swagger UI leaves open: fields and choices of a parameter have no label but the words in the row before them. */
const OF_THE_LIBRARY = /^(select-name|label): /

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
    const rows = await page.locator('.opblock-summary').all()
    const names = rows.map(async (row) => {
      const method = await row.locator('.opblock-summary-method').textContent()
      return `${method} ${await row.locator('[data-path]').getAttribute('data-path')}`
    })
    return (await Promise.all(names)).sort()
  }

  test.each([
    ['in the light', {}],
    ['in the dark', { colorScheme: 'dark' }],
    ['on a phone', PHONE],
  ] as const)('is whole %s: no fault, no other host, nothing beside the window', async (_, options) => {
    await using visit = await openPage(browser(), host.url, { reducedMotion: 'reduce', ...options })
    const { page, trouble } = visit
    await opened(page)
    expect(await routesShown(page)).toEqual(await routesOfPrograms(page))
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: /\/api\/v1\/files List/ }).click()
    await page.waitForSelector('.opblock.is-open .responses-inner')
    expect((await accessibilityFaults(page)).filter((fault) => !OF_THE_LIBRARY.test(fault))).toEqual([])
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
