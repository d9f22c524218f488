/** What people expect of a file manager without being told: it asks before what is final, and Back closes what is open. */
// Only in test:all: files.test.ts works on the same page.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import {
  cutLabels,
  describeInBrowser,
  PHONE,
  pixelsBeside,
  readElements,
  smallTargets,
} from '../support/browser/browser.ts'
import { filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import { api, GENEROUS, makeFolder, textBytes, upload } from '../support/clients/public.ts'
import { PNG } from '../support/contents/picture.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

/** Of a row: what shows that it is selected or hovered, and its name. */
const STYLE =
  "[getComputedStyle(it).backgroundColor + getComputedStyle(it).boxShadow, it.querySelector('.name').title]"

describeInBrowser('the file manager', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
  })
  afterAll(() => host.stop())

  async function account() {
    const owner = await filesOwner(host)
    const { key } = owner
    const folder = await makeFolder(host, key, { name: 'Secret', public: 0 })
    for (const name of ['one.txt', 'two.txt', 'three.png']) {
      const bytes = name.endsWith('.png') ? PNG : textBytes(name)
      await upload(host, { key, folder, name, bytes })
    }
    return { ...owner, path: `/files/${folder}` }
  }

  test('asks before it deletes for good, and offers no Undo for it afterwards', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own, { path: own.path })
    const { page } = files
    const dialog = page.getByRole('dialog', { name: 'Bin' })
    const undo = page.locator('.notice').getByRole('button', { name: 'Undo' })
    await files.row('one.txt').click()
    await files.press('Delete')
    await files.says('1 item moved to the bin')
    await files.button('Bin').click()
    await dialog.getByRole('button', { name: 'Delete for good: one.txt' }).click()
    await dialog.getByText('Delete “one.txt” for good?').waitFor()
    await dialog.getByRole('button', { name: 'Keep' }).click()
    await dialog.getByRole('button', { name: 'Restore: one.txt' }).waitFor()
    expect(await undo.count()).toBe(1)
    await dialog.getByRole('button', { name: 'Delete for good: one.txt' }).click()
    await dialog.getByRole('button', { name: 'Delete for good: one.txt' }).click()
    await dialog.getByText('What you delete stays here').waitFor()
    await undo.waitFor({ state: 'detached' })
    expect((await own.api.files()).map(({ name }) => name).sort()).toEqual(['three.png', 'two.txt'])

    await dialog.getByRole('button', { name: 'Close' }).click()
    await files.row('two.txt').click()
    await files.press('Delete')
    await undo.waitFor()
    // Somewhere else it is deleted for good: this window does not know, and says so when it finds out.
    expect((await api(host, own.key, 'DELETE', '/api/v1/bin')).status).toBe(200)
    await undo.click()
    await files.says('It was deleted for good.')
    expect(files.trouble().filter((trouble) => !trouble.startsWith('404'))).toEqual([])
  })

  test('names what is in the bin on a phone, and has room for each button', async () => {
    const owner = await filesOwner(host)
    const long = 'Minutes of the meeting of the harbour committee, final version.docx'
    const slugs: string[] = []
    for (const name of ['Old boat.mp4', long]) {
      slugs.push((await upload(host, { key: owner.key, name, bytes: textBytes(name) })).slug)
    }
    expect((await api(host, owner.key, 'POST', '/api/v1/bin', { files: slugs })).status).toBe(200)
    await using files = await openFilesPage(browser(), owner, { ...PHONE, locale: 'de-DE' })
    const { page } = files
    await page.getByText('Hier ist noch nichts').waitFor()
    await files.button('Ordner anzeigen').tap()
    await files.button('Papierkorb').last().tap()
    const dialog = page.getByRole('dialog', { name: 'Papierkorb' })
    await dialog.getByText(long.slice(-9)).waitFor()
    expect(await smallTargets(page)).toEqual([])
    for (const row of await dialog.locator('.bin-row').all()) {
      const [name, button] = [
        await row.locator('.name').boundingBox(),
        await row.getByRole('button').first().boundingBox(),
      ]
      expect(button?.y).toBeGreaterThanOrEqual((name?.y ?? 999) + (name?.height ?? 0))
    }
    await dialog.getByRole('button', { name: 'Endgültig löschen: Old boat.mp4' }).tap()
    await dialog.getByText('„Old boat.mp4“ endgültig löschen?').waitFor()
    expect([await pixelsBeside(page), await smallTargets(page)]).toEqual([0, []])
  })

  test('has the link of what is selected in view, beside a name of any length', async () => {
    const owner = await filesOwner(host)
    const name = `${'a name that is long and goes on '.repeat(4)}.txt`
    await upload(host, { key: owner.key, name, bytes: textBytes(name) })
    for (const screen of [{ viewport: { width: 1440, height: 750 } }, PHONE]) {
      await using files = await openFilesPage(browser(), owner, screen)
      const { page } = files
      await files.row(name).locator('.more').click()
      await page.getByRole('menuitem', { name: 'Details' }).click()
      const details = page.getByRole('complementary', { name: 'Details' })
      const copy = details.getByRole('button', { name: 'Copy link' })
      await copy.waitFor()
      const box = await copy.boundingBox()
      expect((box?.y ?? 999) + (box?.height ?? 0)).toBeLessThanOrEqual(screen.viewport.height)
      const close = await details.getByRole('button', { name: 'Close' }).boundingBox()
      const heading = await details.getByRole('heading').boundingBox()
      // The middle of its first line is the middle of the button.
      expect((heading?.y ?? 0) + 13).toBeCloseTo((close?.y ?? 0) + (close?.height ?? 0) / 2, 0)
      expect(await cutLabels(page)).toEqual([])
    }
  })

  test('says in words what can be done with a selection where there is room for them', async () => {
    const own = await account()
    for (const [locale, copy, labels] of [
      ['en-GB', 'Copy link', ['Download', 'Share …', 'Move to …', 'Delete']],
      ['de-DE', 'Link kopieren', ['Herunterladen', 'Teilen …', 'Verschieben …', 'Löschen']],
    ] as const) {
      await using files = await openFilesPage(browser(), own, {
        path: own.path,
        locale,
        viewport: { width: 1440, height: 800 },
      })
      const { page } = files
      await files.row('one.txt').click({ modifiers: ['Control'] })
      await files.button(copy).waitFor()
      const shown = page.locator('.selection-label:visible')
      expect(await shown.allTextContents()).toEqual([...labels])
      expect([await pixelsBeside(page), await cutLabels(page)]).toEqual([0, []])
      await page.setViewportSize({ width: 1000, height: 800 })
      expect(await shown.count()).toBe(0)
      // The number is said in full, or by the button to copy alone.
      for (const width of [760, 390, 360]) {
        await page.setViewportSize({ width, height: 800 })
        const isCut = 'it.clientWidth > 1 && it.scrollWidth > it.clientWidth'
        expect(await readElements(page, '.selection-bar p', isCut, z.boolean())).toEqual([false])
      }
    }
  })

  test('keeps the focus in a list of one row, and gives it back when the row has gone and come', async () => {
    const owner = await filesOwner(host)
    await upload(host, { key: owner.key, name: 'only.txt' })
    await using files = await openFilesPage(browser(), owner)
    const { page } = files
    const focused = files.row('only.txt').and(page.locator(':focus'))
    await files.row('only.txt').focus()
    for (const key of ['ArrowDown', 'ArrowUp', 'Home', 'End', 'PageDown', 'PageUp']) {
      await files.press(key)
      expect({ key, hasFocus: await focused.count() }).toEqual({ key, hasFocus: 1 })
    }
    expect(await focused.getAttribute('aria-selected')).toBe('true')
    await files.press('F2')
    await page.getByRole('dialog').waitFor()
    await files.press('Escape')
    await focused.waitFor()
    await files.press('Delete')
    await page.getByText('Nothing here yet').waitFor()
    await page.locator('.empty-list:focus').waitFor()
    await files.press('Control+z')
    await focused.waitFor()
    expect(files.trouble()).toEqual([])
  })

  test('tells selected, hovered and focused rows apart, also together, in both looks and colours', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own, { path: own.path, reducedMotion: 'reduce' })
    const { page } = files
    const looks = async (name: string) => {
      const found = await readElements(page, '[data-row]', STYLE, z.tuple([z.string(), z.string()]))
      return found.find(([, named]) => named === name)?.[0] ?? 'not in view'
    }
    for (const look of ['Tiles', 'List']) {
      await page.getByRole('button', { name: `View: ${look}` }).click()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await files.row('two.txt').click()
        const both = await looks('two.txt')
        await page.mouse.move(2, 2)
        const selected = await looks('two.txt')
        await files.row('one.txt').hover()
        const [hovered, plain] = [await looks('one.txt'), await looks('three.png')]
        expect(new Set([both, selected, hovered, plain]).size).toBe(4)
      }
    }
  })

  test('on a phone has Delete within reach, and closes with Back what is open', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own, { ...PHONE, path: '/files' })
    const { page } = files
    await files.row('Secret').tap()
    await files.lists('one.txt', 'three.png', 'two.txt')
    await files.row('one.txt').tap()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByText('Private: only you can open its link.').waitFor()
    await page.goBack()
    await details.waitFor({ state: 'detached' })
    await files.lists('one.txt', 'three.png', 'two.txt')

    await files.button('Show folders').tap()
    await page.getByRole('dialog').waitFor()
    await page.goBack()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await files.lists('one.txt', 'three.png', 'two.txt')
    // By its own button: what is under it stays the page before.
    await files.button('Show folders').tap()
    await page.getByRole('dialog').getByRole('treeitem', { name: 'My files' }).click()
    await files.lists('Secret')
    await page.goBack()
    await files.lists('one.txt', 'three.png', 'two.txt')

    await files.row('one.txt').locator('.more').tap()
    await page.getByRole('menuitem', { name: 'Select' }).tap()
    expect((await page.getByText('1 selected').boundingBox())?.width).toBeGreaterThan(60)
    for (const name of ['Copy link', 'Delete', 'More actions']) {
      const box = await page.locator('.selection-bar').getByRole('button', { name }).boundingBox()
      expect({ name, right: Math.ceil((box?.x ?? 999) + (box?.width ?? 0)) <= 360 }).toEqual({
        name,
        right: true,
      })
      expect(box?.y).toBeGreaterThan(PHONE.viewport.height - 80)
    }
    await page.locator('.selection-bar').getByRole('button', { name: 'More actions' }).tap()
    await page.getByRole('menuitem', { name: /Move to/ }).waitFor()
    await files.press('Escape')
    await page.locator('.selection-bar').getByRole('button', { name: 'Copy link' }).tap()
    await files.says('Only you can open it')
    await page.goBack()
    await page.getByText('1 selected').waitFor({ state: 'detached' })
    await files.lists('one.txt', 'three.png', 'two.txt')
    await page.goBack()
    await files.lists('Secret')
    expect(files.trouble()).toEqual([])
  })

  test('asks for a thumbnail where there may be one, and for one icon for all other files of a kind', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own)
    const { page } = files
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (/^\/t\/|^\/assets\/icon-/.test(pathname)) asked.push(pathname)
    })
    await page.goto(own.path)
    await files.lists('one.txt', 'three.png', 'two.txt')
    await files.row('one.txt').click()
    await files.press('Enter')
    await page.getByRole('complementary', { name: 'Details' }).locator('img').waitFor()
    await page.waitForLoadState('networkidle')
    expect([...new Set(asked)].sort()).toEqual([
      expect.stringMatching(/^\/assets\/icon-\w+-text-TXT\.svg$/),
      expect.stringMatching(/^\/t\//),
    ])
    expect(asked.filter((path) => path.startsWith('/t/'))).toHaveLength(1)
    expect(files.trouble()).toEqual([])
  })

  test('keeps its menu button beside pictures, not on them', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own, { ...PHONE, path: own.path })
    await files.button('View: Tiles').tap()
    const tile = files.row('three.png')
    await eventually('the button does not cover the picture', async () => {
      const [picture, more] = [
        await tile.locator('.picture').boundingBox(),
        await tile.locator('.more').boundingBox(),
      ]
      return picture !== null && more !== null && more.y >= picture.y + picture.height
    })
  })
})
