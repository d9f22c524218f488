/** The viewer, which shows files over the page of their folder or link. */
// Only in test:all: folder.test.ts opens files in it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import sharp from 'sharp'
import { z } from 'zod'
import { describeInBrowser, openPage, PHONE, readElements } from '../support/browser/browser.ts'
import { type LinkFields, makeLink } from '../support/clients/links.ts'
import { GENEROUS, makeFolder, textBytes, type Uploaded, upload } from '../support/clients/public.ts'
import { thumbnailOf } from '../support/clients/thumbnails.ts'
import { greyJpeg } from '../support/contents/pictures.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

describeInBrowser('the viewer', (browser) => {
  let host: TestHoldfast
  let key: string
  let folder: string
  let files: readonly Uploaded[]
  const open = (options: BrowserContextOptions = {}) => openPage(browser(), host.url, options)
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Viewer' })

  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
    key = (await host.addAccount()).apiKey
    folder = await makeFolder(host, key, { name: 'Harbour' })
    const contents = [
      ['a.jpg', await greyJpeg(1600, 1200)],
      ['b.jpg', await greyJpeg(900, 1600)],
      ['c.txt', textBytes('the first line\nthe second line')],
      ['d.bin', textBytes('\0\x01\x02')],
      ['e.jpg', await greyJpeg(3000, 1000)],
    ] as const
    files = await Promise.all(contents.map(([name, bytes]) => upload(host, { key, folder, name, bytes })))
    for (const at of [0, 1, 4]) {
      const file = files[at]
      if (file !== undefined) await thumbnailOf(host, key, file)
    }
  }, 60_000)
  afterAll(() => host.stop())

  test('opens from the tile, leads through all files, has their addresses, and is left by Back', async () => {
    await using visit = await open()
    const { page } = visit
    await page.goto(`/f/${folder}?view=gallery`)
    const of = page.url()
    await page.getByRole('link', { name: 'a.jpg' }).click({ force: true })
    await dialog(page).getByText('1 of 5').waitFor()
    expect(page.url()).toEndWith(`/d/${files[0]?.slug}`)
    await page.keyboard.press('ArrowRight')
    await dialog(page).getByText('2 of 5').waitFor()
    expect(await page.title()).toStartWith('b.jpg')
    await page.keyboard.press('ArrowRight')
    await dialog(page).getByText('the second line').waitFor()
    await page.keyboard.press('ArrowRight')
    const download = dialog(page).locator('.stage a.button')
    expect(await download.getAttribute('href')).toBe(`/d/${files[3]?.slug}?download=1`)
    expect(page.url()).toEndWith(`/d/${files[3]?.slug}`)
    await page.goBack()
    await dialog(page).waitFor({ state: 'detached' })
    expect(page.url()).toBe(of)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('d.bin')
    await page.goForward()
    await dialog(page).getByText('4 of 5').waitFor()
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
    expect(page.url()).toBe(of)
    expect(visit.trouble(5)).toEqual([])
  })

  test('loads the file itself when a picture is zoomed in, and not before', async () => {
    await using visit = await open()
    const { page } = visit
    const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
    const pixels = sharp({ create: { width: 2000, height: 1500, channels: 3, background: '#888', noise } })
    const inside = await makeFolder(host, key)
    const bytes = new Uint8Array(await pixels.jpeg({ quality: 95 }).toBuffer())
    await thumbnailOf(host, key, await upload(host, { key, folder: inside, name: 'big.jpg', bytes }))
    let asked = 0
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.startsWith('/v2/')) asked += 1
    })
    await page.goto(`/f/${inside}`)
    const opened = page.waitForResponse('**/d/*')
    await page.getByRole('link', { name: 'big.jpg' }).click({ force: true })
    await (await opened).finished()
    const picture = page.locator('.pswp__img').last()
    await picture.waitFor()
    await page.waitForTimeout(500)
    expect(asked).toBe(0)
    await picture.click()
    await page.locator('.pswp__img[src*="/v2/"]').waitFor()
    expect(asked).toBe(1)
  })

  test('tells of a file in a sheet, which Escape closes alone', async () => {
    await using visit = await open(PHONE)
    const { page } = visit
    await page.goto(`/f/${folder}?view=gallery`)
    await page.getByRole('link', { name: 'b.jpg' }).tap({ force: true })
    await dialog(page).getByRole('button', { name: 'Details' }).tap()
    const sheet = page.getByRole('dialog', { name: 'Details' })
    await sheet.getByRole('heading', { name: 'b.jpg' }).waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    expect(await dialog(page).count()).toBe(1)
    expect(visit.trouble(5)).toEqual([])
  })

  test('shows under a link what the link allows: by its own addresses, and nothing that is counted', async () => {
    const slug = (terms: LinkFields) => makeLink(host, key, { folders: [folder], ...terms })
    const [ending, limited] = [
      await slug({ ends_at: '2099-01-01T00:00:00Z' }),
      await slug({ max_downloads: 3 }),
    ]
    await using visit = await open()
    const { page } = visit
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(`/l/${ending}?view=gallery`)
    await page.getByRole('link', { name: 'a.jpg' }).click({ force: true })
    await dialog(page).getByText('1 of 5').waitFor()
    expect(page.url()).toContain(`/l/${ending}/`)
    expect(asked.filter((path) => /^\/[td]\//.test(path))).toEqual([])
    await page.goto(`/l/${limited}?view=gallery`)
    await page.getByRole('link', { name: 'a.jpg' }).click({ force: true })
    await page.getByRole('heading', { name: 'a.jpg', level: 1 }).waitFor()
    expect(await dialog(page).count()).toBe(0)
  })

  test.each([320, 390, 768, 1440])('stands over a wall of full rows, %d pixels wide', async (width) => {
    await using visit = await open({ viewport: { width, height: 900 } })
    const { page } = visit
    await page.goto(`/f/${folder}?view=gallery`)
    const place = z.object({ top: z.number(), left: z.number(), right: z.number(), bottom: z.number() })
    const tiles = await readElements(page, '.file-item', 'it.getBoundingClientRect().toJSON()', place)
    const [first, second] = tiles
    expect(second?.top).toBe(first?.top ?? -1)
    const rows = Map.groupBy(tiles, ({ top }) => Math.round(top))
    for (const row of rows.values()) {
      const heights = row.map(({ top, bottom }) => bottom - top)
      expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(1)
      expect(Math.max(...row.map(({ right }) => right))).toBeLessThanOrEqual(width)
    }
  })
})
