/** The page of a folder, as people use it: with a mouse, a thumb, a keyboard, and with nothing but links. */
// Only in test:all: site.test.ts opens its page, and test/server/pages has what it says.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { z } from 'zod'
import { describeInBrowser, openPage, PHONE, readElements } from '../support/browser/browser.ts'
import { api, GENEROUS, makeFolder, randomBytes, upload } from '../support/clients/public.ts'
import { PNG } from '../support/contents/picture.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const part = z.object({ text: z.string(), isCut: z.boolean(), left: z.number() })
/** The two parts of each name. */
const nameParts = (page: Page) =>
  readElements(
    page,
    '.file-item .name > [data-text]',
    '{ text: it.dataset.text, isCut: it.scrollWidth > it.clientWidth, left: it.getBoundingClientRect().left }',
    part,
  )

describeInBrowser('the page of a folder', (browser) => {
  let host: TestHoldfast
  let key: string
  const open = (options: BrowserContextOptions = {}) => openPage(browser(), host.url, options)
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
    key = (await host.addAccount()).apiKey
  })
  afterAll(() => host.stop())

  async function folderOf(names: readonly string[]): Promise<string> {
    const folder = await makeFolder(host, key)
    for (const [at, name] of names.entries()) {
      const bytes = name.endsWith('.png') ? PNG : randomBytes(100 * (at + 1))
      await upload(host, { key, folder, name, bytes })
      host.clock.advance(1000)
    }
    return folder
  }

  const names = (page: Page) => readElements(page, '.file-item', 'it.dataset.name', z.string())

  test.each([
    ['America/New_York', '31 December 2025'],
    ['Pacific/Auckland', '1 January 2026'],
  ])(
    'two opinions of one fact: what came at 23:30 UTC has the day of a reader in %s, on every page',
    async (zone, day) => {
      const folder = await folderOf(['late.txt'])
      const at = Date.parse('2025-12-31T23:30:00Z')
      await host.database
        .updateTable('files')
        .set({ created_at: at })
        .where('name', '=', 'late.txt')
        .execute()
      await using visit = await open({ timezoneId: zone })
      const { page } = visit
      await page.goto(`/f/${folder}`)
      await page.locator('time', { hasText: day }).waitFor()
      await page.goto((await page.locator('.file-item a').getAttribute('href')) ?? '')
      await page.locator('time', { hasText: day }).waitFor()
      expect(await page.locator('#detailsContent').textContent()).toContain('2025-12-31T23:30')
      expect(visit.trouble(1)).toEqual([])
    },
  )

  describe.each([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ])('%s', (_, javaScriptEnabled) => {
    test('is sorted, shown in another way, and opened, by clicks', async () => {
      const folder = await folderOf(['b 10.txt', 'c.txt', 'b 2.txt'])
      await using visit = await open({ javaScriptEnabled })
      const { page } = visit
      await page.goto(`/f/${folder}`)
      expect(await page.locator('ul.list').count()).toBe(1)
      await page.getByRole('link', { name: 'Gallery' }).click()
      expect(await page.locator('ul.gallery').count()).toBe(1)
      const links = page.locator('.file-item a')
      expect(await links.allTextContents()).toEqual(['b 2.txt', 'b 10.txt', 'c.txt'])
      await page.getByRole('link', { name: 'Name ascending' }).click()
      expect(await links.allTextContents()).toEqual(['c.txt', 'b 10.txt', 'b 2.txt'])

      await page.goto(`/f/${folder}`)
      expect(await page.locator('ul.gallery').count()).toBe(1)
      await page.locator('.file-item').first().click()
      await page.waitForURL('**/d/*')
      expect(await page.title()).toStartWith('c.txt')
      // Four times three files were shown.
      expect(visit.trouble(javaScriptEnabled ? 12 : 0)).toEqual([])
    })

    test('is unlocked by its password, after a wrong one has been told', async () => {
      const folder = await makeFolder(host, key, { password: 'sesame' })
      await upload(host, { key, folder, name: 'inside.txt' })
      await using visit = await open({ javaScriptEnabled })
      const { page } = visit
      await page.goto(`/f/${folder}`)
      await page.getByLabel('Password').fill('Sesame')
      await page.getByRole('button', { name: 'Unlock' }).click()
      expect(await page.getByRole('alert').textContent()).toContain('Wrong password')
      expect(await page.content()).not.toContain('inside.txt')
      await page.getByLabel('Password').fill('sesame')
      await page.getByRole('button', { name: 'Unlock' }).click()
      await page.getByRole('link', { name: 'inside.txt' }).waitFor()
      expect(visit.trouble(javaScriptEnabled ? 1 : 0)).toEqual([])
    })
  })

  test('takes ten wrong passwords, and then says when to try again', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    await using visit = await open()
    const { page } = visit
    await page.goto(`/f/${folder}`)
    const attempt = async (password: string) => {
      await page.getByLabel('Password').fill(password)
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'POST'),
        page.getByRole('button', { name: 'Unlock' }).click(),
      ])
      return answer
    }
    for (let tries = 0; tries < 10; tries++) expect((await attempt('wrong')).status()).toBe(200)
    const refused = await attempt('sesame')
    expect(refused.status()).toBe(429)
    expect(await page.getByRole('alert').textContent()).toMatch(/too many.* 15 minutes/i)
    host.clock.advance(15 * 60_000)
    expect((await attempt('sesame')).status()).toBe(303)
  })

  test('leads from item to item by the arrow keys', async () => {
    const folder = await folderOf(Array.from({ length: 12 }, (_, at) => `${String(at).padStart(2, '0')}.png`))
    await makeFolder(host, key, { parent: folder, name: 'Inner' })
    await using visit = await open({ viewport: { width: 900, height: 700 } })
    const { page } = visit
    await page.goto(`/f/${folder}?sort=name`)
    const focused = () => page.evaluate('document.activeElement.textContent')
    const press = async (key: string) => {
      await page.keyboard.press(key)
      return focused()
    }
    const left = 'Math.round(it.getBoundingClientRect().left)'
    const columns = await readElements(page, '.file-item', left, z.number())
    const perLine = new Set(columns).size
    const name = (at: number) => `${String(at).padStart(2, '0')}.png`
    await page.locator('.file-item a').first().focus()
    expect(await press('ArrowRight')).toBe(name(1))
    expect(await press('ArrowDown')).toBe(name(1 + perLine))
    expect(await press('ArrowLeft')).toBe(name(perLine))
    expect(await press('ArrowUp')).toBe(name(0))
    expect(await press('ArrowUp')).toContain('Inner')
    expect(await press('ArrowUp')).toContain('Inner')
    expect(await press('ArrowDown')).toBe(name(0))
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/d/*')
    expect(await page.title()).toStartWith(name(1))
  })

  test('leads from file to file, and Back to the folder', async () => {
    const folder = await folderOf(['a.txt', 'b.txt', 'c.txt'])
    await using visit = await open()
    const { page } = visit
    await page.goto(`/f/${folder}?sort=name`)
    await page.getByRole('link', { name: 'a.txt', exact: true }).click()
    await page.waitForURL('**/d/*')
    await page.reload()
    const shown = async (name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor()
    await shown('a.txt')
    expect(await page.getByRole('link', { name: 'Previous' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Next' }).click()
    await shown('b.txt')
    await page.keyboard.press('ArrowRight')
    await shown('c.txt')
    expect(await page.getByRole('link', { name: 'Next' }).count()).toBe(0)
    await page.keyboard.press('ArrowLeft')
    await shown('b.txt')
    await page.goBack()
    await page.locator('.file-item').first().waitFor()
    expect(await names(page)).toEqual(['a.txt', 'b.txt', 'c.txt'])
  })

  test('shifts nothing while thumbnails come', async () => {
    const folder = await folderOf(['a.png', 'b.png', 'c.png', 'd.txt'])
    await using visit = await open()
    const { page } = visit
    // Late, so that everything else is there before.
    await page.route('**/t/*', async (route) => {
      await Bun.sleep(200)
      await route.continue()
    })
    for (const view of ['gallery', 'list']) {
      await page.goto(`/f/${folder}?view=${view}`, { waitUntil: 'networkidle' })
      const shifts = await page.evaluate(`new Promise((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().map((it) => ({
          value: it.value,
          at: it.startTime,
          sources: it.sources.map(({ node, previousRect, currentRect }) => [
            node?.outerHTML?.slice(0, 200) ?? node?.textContent, previousRect, currentRect,
          ]),
        }))))
          .observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => resolve([]), 100)
      })`)
      expect(shifts).toEqual([])
    }
    expect(await page.locator('.file-item img[loading=lazy]').count()).toBe(4)
  })

  test('shows names in full where there is room, and their beginning and ending where there is not', async () => {
    const long = `A ${'very '.repeat(20)}long report.pdf`
    const folder = await folderOf(['short.txt', long])
    for (const options of [PHONE, {}]) {
      await using visit = await open(options)
      const { page } = visit
      await page.goto(`/f/${folder}?view=list`)
      const [longStart, longEnd, start, end] = await nameParts(page)
      expect(longStart?.isCut).toBe(true)
      expect(longEnd).toMatchObject({ text: 'report.pdf', isCut: false })
      expect([start?.isCut, end?.isCut]).toEqual([false, false])
    }
  })

  test('shows a name that is read from right to left as such, its extension at its end', async () => {
    const folder = await folderOf(['صباح على الخليج.txt'])
    await using visit = await open()
    const { page } = visit
    await page.goto(`/f/${folder}?view=list`)
    const [start, end] = await nameParts(page)
    expect(end?.left).toBeLessThan(start?.left ?? 0)
  })

  test('is one list that goes on as one scrolls, and keeps its main actions in reach', async () => {
    const folder = await makeFolder(host, key)
    const names = Array.from({ length: 130 }, (_, at) => `${String(at).padStart(3, '0')}.txt`)
    await Promise.all(names.map((name) => upload(host, { key, folder, name })))
    for (const options of [PHONE, {}]) {
      await using visit = await open(options)
      const { page } = visit
      await page.goto(`/f/${folder}`)
      await page.locator('.file-item').nth(99).scrollIntoViewIfNeeded()
      await page.locator('.file-item').nth(129).scrollIntoViewIfNeeded()
      expect(await readElements(page, '.file-item', 'it.dataset.name', z.string())).toEqual(names)
      expect(await page.locator('.pager').count()).toBe(0)
      const inView = z.object({ top: z.number(), isIn: z.boolean() })
      const place =
        '{ top: it.getBoundingClientRect().top, isIn: it.getBoundingClientRect().bottom <= innerHeight }'
      const [button] = await readElements(page, '.download-all', place, inView)
      expect(button?.isIn).toBe(true)
      expect(button?.top).toBeGreaterThanOrEqual(0)
      // Those that were added have no handler for programs.
      expect(visit.trouble(100)).toEqual([])
    }
  })

  test('saves everything as one zip by its button', async () => {
    const folder = await makeFolder(host, key, { name: 'Holiday' })
    await upload(host, { key, folder, name: 'a.txt', bytes: randomBytes(2048) })
    await using visit = await open()
    const { page } = visit
    await page.goto(`/f/${folder}`)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download all (2 KB)' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('Holiday.zip')
    await download.delete()
  })

  test('says what an empty folder is for, and shows changes when it is loaded again', async () => {
    const folder = await makeFolder(host, key)
    await using visit = await open()
    const { page } = visit
    await page.goto(`/f/${folder}`)
    expect(await page.locator('.empty').textContent()).toContain('will show up here')
    const file = await upload(host, { key, folder, name: 'first.txt' })
    await api(host, key, 'PATCH', `/api/v1/file/${file.slug}`, { name: 'renamed.txt' })
    await page.reload()
    expect(await names(page)).toEqual(['renamed.txt'])
  })
})
