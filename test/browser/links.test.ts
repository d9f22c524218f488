/** The link of a file, which people come for: whole, and copied by a button that says so, wherever it is shown. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { z } from 'zod'
import {
  cutLabels,
  describeInBrowser,
  openPage,
  PHONE,
  pixelsBeside,
  readElements,
} from '../support/browser/browser.ts'
import { type FilesOwner, filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import { chosenFile, openStartPage } from '../support/browser/start-page.ts'
import { makeFolder, textBytes, type Uploaded, upload } from '../support/clients/public.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const SCREENS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['Copy link', { viewport: { width: 1440, height: 900 }, locale: 'en-GB' }],
  ['Copy link', { viewport: { width: 768, height: 1024 }, locale: 'en-GB' }],
  ['Link kopieren', { ...PHONE, locale: 'de-DE' }],
]

const NAME = 'Letter to the harbour.txt'

/** What programs need and people do not read: identifiers, moments as ISO 8601, hashes. */
const MACHINE_FACTS = /[0-9a-f]{8}-[0-9a-f]{4}-|\d{4}-\d\d-\d\dT|[0-9a-f]{40}/

describeInBrowser('the link of a file', (browser) => {
  let host: TestHoldfast
  let owner: FilesOwner
  let folder: string
  let file: Uploaded
  beforeAll(async () => {
    host = await startHoldfast()
    owner = await filesOwner(host)
    folder = await makeFolder(host, owner.key, { name: 'Seven days by the sea, all of us' })
    const bytes = textBytes('letter'.repeat(300))
    file = await upload(host, { key: owner.key, folder, name: NAME, bytes })
  })
  afterAll(() => host.stop())

  /** The text of the only such element, once all of it is in view from side to side. */
  async function whole(page: Page, selector: string): Promise<string> {
    const expression = '{ text: it.textContent, isCut: it.scrollWidth > it.clientWidth + 1 }'
    const shape = z.object({ text: z.string(), isCut: z.boolean() })
    const found = await readElements(page, selector, expression, shape)
    expect(found.map(({ isCut }) => isCut)).toEqual([false])
    return found[0]?.text ?? ''
  }

  const said = async (page: Page, of = 'body') =>
    (await readElements(page, of, 'it.innerText', z.string())).join()

  test.each(SCREENS)('is whole on its page, with what people read in words: %s', async (copy, screen) => {
    await using visit = await openPage(browser(), host.url, screen)
    const { page } = visit
    await page.goto(`/d/${file.slug}`)
    expect(await whole(page, '.link-text')).toBe(file.url)
    await page.getByRole('button', { name: copy }).waitFor()
    expect([await pixelsBeside(page), await cutLabels(page)]).toEqual([0, []])
    // The size and the day once, as people write them; the day in one line.
    const text = await said(page)
    expect(text).not.toMatch(MACHINE_FACTS)
    expect(text.match(/1[.,]8 KB/g)).toHaveLength(1)
    const lines =
      'Math.round(it.getBoundingClientRect().height / parseFloat(getComputedStyle(it).lineHeight))'
    expect(await readElements(page, '.facts time', lines, z.number())).toEqual([1, 1])
  })

  test.each(SCREENS)(
    'of a folder has its button beside or below a name of one line: %s',
    async (copy, screen) => {
      await using visit = await openPage(browser(), host.url, screen)
      const { page } = visit
      await page.goto(`/f/${folder}`)
      const button = page.getByRole('button', { name: copy })
      await button.waitFor()
      expect(await button.textContent()).toBe(copy)
      expect([await pixelsBeside(page), await cutLabels(page)]).toEqual([0, []])
      expect(await said(page)).not.toMatch(MACHINE_FACTS)
      const name = await page.locator('.folder-title').boundingBox()
      if ((screen.viewport?.width ?? 0) > 700) expect(name?.height).toBeLessThan(50)
    },
  )

  test.each(SCREENS)('that was just uploaded is whole: %s', async (copy, screen) => {
    await using start = await openStartPage(browser(), host.url, screen)
    await start.choose(chosenFile('a.txt', Buffer.from('a')))
    const upload = start.upload('a.txt')
    await upload.is('done')
    const link = await start.transferLink()
    expect(link).toEndWith(await whole(start.page, '.link-address'))
    expect(await start.page.locator('.copy-link').textContent()).toContain(copy)
    expect([await pixelsBeside(start.page), await cutLabels(start.page)]).toEqual([0, []])
  })

  test.each(SCREENS)('is copied by a word among details and selections: %s', async (copy, screen) => {
    await using files = await openFilesPage(browser(), owner, { ...screen, path: `/files/${folder}` })
    const { page } = files
    await files.row(NAME).locator('.more').click()
    await page.getByRole('menuitem', { name: 'Details' }).click()
    const details = page.locator('.details')
    await details.getByRole('button', { name: copy }).waitFor()
    expect(await said(page, '.details')).not.toMatch(MACHINE_FACTS)
    expect(await cutLabels(page)).toEqual([])
  })
})
