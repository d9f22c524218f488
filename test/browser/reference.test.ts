/** The reference of the API, as people read and try it. */
// Only in test:all: long pages; test/server/server/openapi/openapi.test.ts has the document.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  accessibilityFaults,
  describeInBrowser,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser/browser.ts'
import { elements } from '../support/clients/public.ts'
import { runProgram } from '../support/processes/program.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

describeInBrowser('the reference of the API', (browser) => {
  let host: TestHoldfast
  let key: string
  beforeAll(async () => {
    host = await startHoldfast()
    key = (await host.addAccount('ada')).apiKey
  })
  afterAll(() => host.stop())

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
    const groups = page.locator('section:not([aria-labelledby="site"]) .route')
    const methods = await groups.locator('.method').allTextContents()
    const paths = await groups.locator('.path').allTextContents()
    return methods.map((method, at) => `${method} ${paths[at]}`).sort()
  }

  test.each([
    ['in the light', {}],
    ['in the dark on a phone', { ...PHONE, colorScheme: 'dark' }],
  ] as const)('is whole %s: no fault, no other host, nothing beside the window', async (_, options) => {
    await using visit = await openPage(browser(), host.url, { reducedMotion: 'reduce', ...options })
    const { page, trouble } = visit
    await page.goto('/docs')
    expect(await routesShown(page)).toEqual(await routesOfPrograms(page))
    const small = async () => ('hasTouch' in options ? await smallTargets(page) : [])
    expect(await small()).toEqual([])
    // One with choices, one with a body, one with a form.
    for (const id of ['get-api-v1-files', 'post-api-v1-folder', 'post-api-v1-upload']) {
      await page.goto(`/docs#${id}`)
      await page.locator(`#${id} pre`).first().waitFor()
      for (const example of await page.locator(`#${id} .example`).all())
        await example.locator('summary').click()
    }
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await small()).toEqual([])
    expect(await pixelsBeside(page)).toBe(0)
    expect(trouble()).toEqual([])
  })

  test('is written by the server, needs no script, and says what each route takes and answers', async () => {
    await using visit = await openPage(browser(), host.url, { javaScriptEnabled: false })
    const { page } = visit
    await page.goto('/docs')
    await page.locator('summary', { hasText: /List files$/ }).click()
    const route = page.locator('#get-api-v1-files')
    await route.getByText('API key with the scope “read”').waitFor()
    await route.getByText('per_page', { exact: true }).first().waitFor()
    await route.getByText('"created_at" | "name" | "size" | "downloads"').waitFor()
    await route.getByRole('link', { name: 'array of FileListItem' }).waitFor()
  })

  test('gives commands that work as they stand', async () => {
    const commands = await commandsOf(host.url)
    const account = commands.find((command) => command.endsWith("/api/v1/account'"))
    const { output } = await runProgram(['sh', '-c', account ?? 'false'], {
      env: { ...process.env, HOLDFAST_KEY: key },
    })
    expect(JSON.parse(output)).toMatchObject({ data: { username: 'ada' } })
    for (const command of commands) {
      const { errors } = await runProgram(['sh', '-n', '-c', command])
      expect([command, errors]).toEqual([command, ''])
    }
  })

  test('is found from the start page, and leads to the guides', async () => {
    await using visit = await openPage(browser(), host.url, { locale: 'de' })
    const { page, trouble } = visit
    const scripts: string[] = []
    page.on('request', (request) => scripts.push(request.url()))
    await page.goto('/')
    expect(scripts.filter((url) => url.includes('reference'))).toEqual([])
    await page.getByRole('link', { name: 'Für Programme: die API' }).click()
    await page.locator('.route').first().waitFor()
    await page.getByRole('link', { name: 'ShareX' }).click()
    expect(await page.locator('article h1').textContent()).toBe('ShareX')
    expect(await accessibilityFaults(page)).toEqual([])
    expect(trouble()).toEqual([])
  })
})

/** What the buttons of the reference copy. */
async function commandsOf(url: string): Promise<string[]> {
  const html = await (await fetch(`${url}/docs`)).text()
  return elements(html, 'button[data-copy]').map(({ attributes }) => attributes['data-copy'] ?? '')
}
