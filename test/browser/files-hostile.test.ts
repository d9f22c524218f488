/** Files and folders in the file manager whose names would do something if they were more than text. */
// Only in test:all: generated: every hostile name.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeInBrowser } from '../support/browser/browser.ts'
import { type FilesOwner, filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import { api, GENEROUS, makeFolder, upload } from '../support/clients/public.ts'
import { HOSTILE_NAMES } from '../support/contents/hostile-names.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const FILES = HOSTILE_NAMES.map((name) => name.normalize('NFC'))
const FOLDERS = FILES.map((name) => name.slice(0, 100).trim())
const ALL = [...FILES, ...FOLDERS].sort()

describeInBrowser('a hostile name in the file manager', (browser) => {
  let host: TestHoldfast
  let owner: FilesOwner
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
    owner = await filesOwner(host)
    for (const name of FOLDERS) await makeFolder(host, owner.key, { name })
    for (const name of FILES) {
      const { slug } = await upload(host, { key: owner.key, name: 'file.txt' })
      expect((await api(host, owner.key, 'PATCH', `/api/v1/file/${slug}`, { name })).status).toBe(200)
    }
  })
  afterAll(() => host.stop())

  test('is a text in lists, dialogs and details', async () => {
    // Without the policy, so that it is not what saves us. So high that all lines are in view.
    const viewport = { width: 1400, height: 2100 }
    await using files = await openFilesPage(browser(), owner, { viewport, bypassCSP: true })
    const { page } = files
    const rows = page.locator('[data-row]')
    const nameIn = (row: number) => page.locator(`[data-row="${row}"] .name`)
    const listed = async () => (await files.names()).sort()
    await nameIn(ALL.length - 1).waitFor()
    expect(await listed()).toEqual(ALL)
    expect(
      (await page.getByRole('treeitem').locator('.branch-name').allTextContents()).slice(1).sort(),
    ).toEqual(FOLDERS.toSorted())

    // They have their details, and the dialog for its name.
    await rows.last().click()
    await files.press('Enter')
    const details = page.getByRole('complementary', { name: 'Details' })
    const dialog = page.getByRole('dialog')
    for (let each = 0; each < FILES.length; each++) {
      // Folders come first, under the same names as files.
      const row = each % 2 === 0 ? each : FOLDERS.length + each
      const name = (await nameIn(row).textContent()) ?? ''
      await rows.nth(row).hover()
      await rows.nth(row).click()
      await details.getByRole('heading', { level: 2 }).filter({ hasText: name.trim() }).waitFor()
      await files.press('F2')
      expect(await dialog.getByRole('heading').textContent()).toBe(`Rename “${name}”`)
      expect(await dialog.getByRole('textbox').inputValue()).toBe(name)
      await files.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    await details.getByRole('button', { name: 'Close' }).click()
    await files.button('View: Tiles').click()
    await page
      .locator('.tile')
      .nth(ALL.length - 1)
      .waitFor()
    expect(await listed()).toEqual(ALL)

    await rows.last().click()
    await files.button('Move to …').click()
    expect((await dialog.locator('.branch-name').allTextContents()).slice(1).sort()).toEqual(
      FOLDERS.toSorted(),
    )
    await dialog.getByRole('button', { name: 'Close' }).click()
    // Into the first folder: its name is in the path and in the title.
    const first = (await nameIn(0).textContent()) ?? ''
    await rows.first().dblclick()
    await page.getByText('Nothing here yet').waitFor()
    expect(await page.locator('.path li').last().textContent()).toBe(first)
    expect(await page.title()).toBe(`${first} · Holdfast`.replaceAll(/\s+/g, ' '))
    await page.goBack()

    await nameIn(ALL.length - 1).waitFor()
    await rows.first().focus()
    await files.press('Control+a', 'Delete')
    await files.says(`${ALL.length} items moved to the bin`)
    await files.button('Bin').click()
    await dialog
      .locator('.name')
      .nth(ALL.length - 1)
      .waitFor()
    expect((await dialog.locator('.name').allTextContents()).sort()).toEqual(ALL)
    expect(page.context().pages()).toHaveLength(1)
    expect(files.trouble()).toEqual([])
  }, 120_000)
})
