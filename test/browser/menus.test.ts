/** Menus where people open them: how large they are, where they stand, and every way out of them. */
// Only in test:all: every menu at every size.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { z } from 'zod'
import { describeInBrowser, readElements } from '../support/browser/browser.ts'
import { type FilesOwner, filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import { openPageAs } from '../support/browser/signed-in-page.ts'
import { GENEROUS, textBytes, upload } from '../support/clients/public.ts'
import { signedIn } from '../support/clients/site-visitor.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const WIDTHS = [1440, 768, 390]
const LONG = 'a name that is much longer than the room that a list has for it, wherever it is shown.txt'
const ARABIC = 'صورة من العطلة.txt'

describeInBrowser('a menu', (browser) => {
  let host: TestHoldfast
  let owner: FilesOwner
  let page = ''
  const other = 'grace'
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
    owner = await filesOwner(host)
    await host.addAccount(other)
    for (const name of ['one.txt', LONG, ARABIC]) {
      page = `/d/${(await upload(host, { key: owner.key, name, bytes: textBytes(name) })).slug}`
    }
  })
  afterAll(() => host.stop())

  /** What is wrong with how it stands; nothing when all of it can be seen and read. */
  async function standing(menu: Locator, { width, height }: { width: number; height: number }) {
    const box = await menu.boundingBox()
    if (box === null) return ['it is not shown']
    const faults: string[] = []
    if (box.x < 0 || box.x + box.width > width) faults.push(`from ${box.x}, ${box.width} wide`)
    if (box.y < 0 || box.y + box.height > height) faults.push(`from ${box.y}, ${box.height} high`)
    if (box.width < 160 || box.width > 360) faults.push(`${box.width} wide`)
    for (const item of await menu.getByRole('menuitem').all()) {
      const inner = await item.boundingBox()
      if (inner === null || inner.width > box.width || inner.height < 44) {
        faults.push(`${await item.textContent()} is too small or too large`)
      }
    }
    const cut = "it.matches(':popover-open .menu-item') && it.scrollWidth > it.clientWidth"
    if ((await readElements(menu.page(), '.menu-item', cut, z.boolean())).includes(true)) {
      faults.push('a label is cut off')
    }
    return faults
  }

  const focused = (within: Page) => within.locator(':focus').textContent()

  test.each([
    ['Ada', 'en-GB', 'Sign out', 'My files'],
    ['somebody.with-the.longest_name.ev', 'de-DE', 'Abmelden', 'Meine Dateien'],
  ])('of the account of %s is whole on every page, at its button', async (name, locale, last, first) => {
    const username = (await host.addAccount(name.toLowerCase().slice(0, 32))).username
    const person = await signedIn(host, username)
    for (const width of WIDTHS) {
      const viewport = { width, height: 800 }
      await using visit = await openPageAs(browser(), host.url, person, { viewport, locale })
      for (const path of ['/files', page, '/docs/api']) {
        await visit.page.goto(path)
        const button = visit.page.getByRole('button', { name: username })
        const menu = visit.page.locator('#account-menu')
        await visit.page.locator('[aria-haspopup="menu"]').and(button).waitFor()
        await button.click()
        expect({ path, width, faults: await standing(menu, viewport) }).toEqual({ path, width, faults: [] })
        const [at, under] = [await menu.boundingBox(), await button.boundingBox()]
        expect(Math.abs((at?.y ?? 0) - (under?.y ?? 0) - (under?.height ?? 0))).toBeLessThanOrEqual(8)
        expect(await menu.getByRole('menuitem').allTextContents()).toContain(last)
        expect(await focused(visit.page)).toBe(first)
        await visit.page.keyboard.press('Escape')
        await menu.waitFor({ state: 'hidden' })
        expect(await focused(visit.page)).toBe(username)
      }
      expect(visit.trouble()).toEqual([])
    }
  })

  test('of an account follows the keys that menus have, and closes by a click beside it', async () => {
    const viewport = { width: 1440, height: 800 }
    const person = await signedIn(host, other)
    await using visit = await openPageAs(browser(), host.url, person, { viewport })
    const press = (key: string) => visit.page.keyboard.press(key)
    await visit.page.goto(page)
    const button = visit.page.locator('#account-button[aria-expanded="false"]')
    const menu = visit.page.getByRole('menu', { name: other })
    await button.focus()
    await press('ArrowUp')
    await menu.waitFor()
    expect(await focused(visit.page)).toBe('Sign out')
    await press('ArrowDown')
    expect(await focused(visit.page)).toBe('My files')
    await press('End')
    expect(await focused(visit.page)).toBe('Sign out')
    await press('m')
    expect(await focused(visit.page)).toBe('My files')
    await visit.page.mouse.click(200, 500)
    await menu.waitFor({ state: 'hidden' })
    await button.focus()
    await press('Enter')
    await menu.waitFor()
    await press('s')
    await press('Enter')
    await visit.page.waitForURL(`${host.url}/settings`)
    expect(visit.trouble()).toEqual([])
  })

  test('of an account opens without JavaScript, and closes by itself', async () => {
    const person = await signedIn(host, other)
    await using visit = await openPageAs(browser(), host.url, person, { javaScriptEnabled: false })
    await visit.page.goto(page)
    const link = visit.page.locator('#account-menu a[href="/settings"]')
    await visit.page.locator('#account-button').click()
    await link.waitFor()
    await visit.page.keyboard.press('Escape')
    await link.waitFor({ state: 'hidden' })
    await visit.page.locator('#account-button').click()
    await visit.page.getByRole('button', { name: 'Sign out' }).click()
    await visit.page.waitForURL(`${host.url}/`)
  })

  test('in the file manager closes by Escape, and by a click beside it, each of them', async () => {
    const viewport = { width: 390, height: 700 }
    await using files = await openFilesPage(browser(), owner, { viewport })
    const { page } = files
    const more = (name: string) => files.row(name).locator('.more')
    const openings: Readonly<Record<string, () => Promise<void>>> = {
      account: () => page.locator('#account-button').click(),
      'of a row': () => more('one.txt').click(),
      'of a row by a key': async () => {
        await files.row('one.txt').focus()
        await files.press('Shift+F10')
      },
      'of the selection': async () => {
        await files.row('one.txt').click()
        await files.button('More actions').click()
      },
      'of a tile': async () => {
        const tiles = files.button('View: Tiles')
        if (await tiles.isVisible()) await tiles.click()
        await more('one.txt').click()
      },
    }
    for (const [which, open] of Object.entries(openings)) {
      for (const way of ['Escape', 'beside'] as const) {
        await open()
        const menu = page.getByRole('menu')
        await menu.waitFor()
        const box = await menu.boundingBox()
        if (box === null) throw new Error(`the menu ${which} is not shown`)
        // Between the lines, and below the last row, such a click does nothing but close the menu.
        const below = Math.max(590, box.y + box.height + 40)
        const besideIt = box.y > viewport.height / 2 - box.height / 2 ? box.y - 8 : below
        await (way === 'Escape' ? files.press('Escape') : page.mouse.click(60, besideIt))
        await menu.waitFor({ state: 'hidden', timeout: 5000 }).catch(() => {
          throw new Error(`the menu ${which} does not close by ${way}`)
        })
        // What a menu alone has selected it gives back by itself.
        if (which === 'of the selection') await files.button('Clear selection').click()
      }
    }
    expect(files.trouble()).toEqual([])
  })

  test.each([
    ['en-GB', 1440],
    ['de-DE', 768],
    ['de-DE', 390],
  ])('of an entry opens at the pointer, in %s at %d pixels', async (locale, width) => {
    // Of a phone, where the longest menu has room above or below.
    const viewport = { width, height: 844 }
    await using files = await openFilesPage(browser(), owner, { viewport, locale })
    const menu = files.page.getByRole('menu')
    await files.row(LONG).waitFor()
    for (const name of ['one.txt', LONG, ARABIC]) {
      const row = await files.row(name).boundingBox()
      if (row === null) throw new Error(`${name} is not in view`)
      for (const share of [0.05, 0.5, 0.95]) {
        const pointer = { x: Math.round(row.x + row.width * share), y: Math.round(row.y + row.height / 2) }
        await files.page.mouse.click(pointer.x, pointer.y, { button: 'right' })
        await menu.waitFor()
        expect({ name, share, faults: await standing(menu, viewport) }).toEqual({ name, share, faults: [] })
        const box = await menu.boundingBox()
        if (box === null) throw new Error('the menu is gone')
        const beside = [box.x - pointer.x, box.x + box.width - pointer.x].map(Math.abs)
        const holds = box.x <= pointer.x && pointer.x <= box.x + box.width
        // Where there is room on neither side the menu lies over the pointer.
        expect(holds && (Math.min(...beside) < 3 || width < 600)).toBe(true)
        expect(Math.min(Math.abs(box.y - pointer.y), Math.abs(box.y + box.height - pointer.y))).toBeLessThan(
          3,
        )
        await (share === 0.5 ? files.page.mouse.click(2, 2) : files.press('Escape'))
        await menu.waitFor({ state: 'detached' })
      }
    }
    await files.row(LONG).locator('.more').click()
    expect(await standing(menu, viewport)).toEqual([])
    await files.press('ArrowUp')
    expect(await focused(files.page)).toStartWith(locale === 'en-GB' ? 'Delete' : 'Löschen')
    await files.press('Tab')
    await menu.waitFor({ state: 'detached' })
    expect(await files.page.locator('[data-row]:focus .name').textContent()).toBe(LONG)
    expect(files.trouble()).toEqual([])
  })
})
