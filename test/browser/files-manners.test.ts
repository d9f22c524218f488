/** What people expect of a file manager without being told: it asks before what is final, and Back closes what is open. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { describeInBrowser, PHONE, readElements } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { filesOwner, openFilesPage } from '../support/files-page.ts'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'
import { PNG } from '../support/picture.ts'
import { api, GENEROUS, makeFolder, textBytes, upload } from '../support/public.ts'

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
    await files.says('1 entry is in the bin')
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
    await details.getByText('Private: its link opens for nobody but you.').waitFor()
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
    await page.getByText('1 selected').waitFor()
    for (const name of ['Copy link', 'Delete', 'More actions']) {
      const box = await page.locator('.selection-bar').getByRole('button', { name }).boundingBox()
      expect({ name, right: Math.ceil((box?.x ?? 999) + (box?.width ?? 0)) <= 360 }).toEqual({
        name,
        right: true,
      })
    }
    await page.locator('.selection-bar').getByRole('button', { name: 'More actions' }).tap()
    await page.getByRole('menuitem', { name: /Move to/ }).waitFor()
    await files.press('Escape')
    await page.locator('.selection-bar').getByRole('button', { name: 'Copy link' }).tap()
    await files.says('It opens for nobody but you')
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
