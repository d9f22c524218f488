/** A drop is a transfer: its link, its terms and what more comes into it. */
// Only in test:all: test/cluster/sharing/transfers.test.ts has the same by its interface.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  describeInBrowser,
  faultsInBothColours,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser/browser.ts'
import { chosenFile, isAlive, openStartPage, type StartPage } from '../support/browser/start-page.ts'
import { GENEROUS } from '../support/clients/public.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const MIB = 1024 ** 2

describeInBrowser('a transfer', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
  })
  afterAll(() => host.stop())

  const send = async (start: StartPage, ...names: readonly string[]) => {
    await start.choose(...names.map((name) => chosenFile(name, Buffer.from(name))))
    for (const name of names) await start.upload(name).is('done')
  }
  const chip = (page: Page, name: string | RegExp) => page.locator('.chip').filter({ hasText: name })

  test('takes what is dropped while it is open, and is the same after a reload; then a drop is another', async () => {
    await using start = await openStartPage(browser(), host.url)
    const { page } = start
    // The chooser that the test can answer.
    await page.addInitScript({ content: 'delete window.showOpenFilePicker' })
    await page.goto('/')
    await isAlive(page)
    await start.throttle(MIB)
    await start.choose(chosenFile('film.mkv', Buffer.alloc(3 * MIB)))
    await start.upload('film.mkv').is('sending')
    const link = await start.transferLink()
    await start.choose(chosenFile('later.txt', Buffer.from('later')))
    await start.upload('later.txt').is('done')
    await page.reload()
    await start.upload('later.txt').is('done')
    expect(await start.transferLink()).toBe(link)
    await start.throttle(null)
    await start.upload('film.mkv').is('done')
    await page.getByRole('heading', { name: '2 files are safe on the server' }).waitFor()
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Add to this one' }).click(),
    ])
    await chooser.setFiles(chosenFile('added.txt', Buffer.from('added')))
    await start.upload('added.txt').is('done')
    expect(await start.transferLink()).toBe(link)
    await send(start, 'other.txt')
    expect(await page.locator('.upload').count()).toBe(1)
    expect(await start.transferLink()).not.toBe(link)
    await using friend = await openPage(browser(), host.url)
    await friend.page.goto(link)
    expect(await friend.page.locator('.file-item').count()).toBe(3)
    expect(start.trouble()).toEqual([])
  })

  test('has the terms that are set before, meanwhile and afterwards, each by one touch that moves nothing', async () => {
    await using start = await openStartPage(browser(), host.url, { ...PHONE, reducedMotion: 'reduce' })
    const { page } = start
    await chip(page, 'One download').tap()
    await send(start, 'letter.txt', 'more.txt')
    const link = await start.transferLink()
    const top = async () => (await page.locator('.upload-rows').boundingBox())?.y
    const before = await top()
    await chip(page, 'Password').tap()
    const password = await page.getByRole('textbox', { name: 'Password' }).inputValue()
    expect(password).toMatch(/^[a-z2-9]{4}(-[a-z2-9]{4}){2}$/)
    expect(await faultsInBothColours(page)).toEqual([])
    expect([await pixelsBeside(page), await smallTargets(page)]).toEqual([0, []])
    await page.keyboard.press('Escape')
    await chip(page, 'Expiry').tap()
    await page.getByRole('button', { name: 'In 7 days' }).tap()
    await chip(page, 'Message').tap()
    await page.getByLabel('Your name').fill('Ann')
    await page.getByRole('textbox', { name: 'Message' }).fill('For Saturday')
    await page.getByRole('button', { name: 'Done' }).tap()
    expect(await top()).toBe(before)
    await page
      .getByText(
        'Opens with the password. Stops working after one download. Its files’ own addresses are closed.',
      )
      .waitFor()
    expect(await page.locator('.upload-link').count()).toBe(0)
    expect(await faultsInBothColours(page)).toEqual([])
    await eventually('they are in force', async () => {
      const text = await (await fetch(link)).text()
      return text.includes('password-form') && text.includes('Password')
    })
    await page.waitForTimeout(1000)
    await using friend = await openPage(browser(), host.url)
    await friend.page.goto(link)
    await friend.page.getByLabel('Password').fill(password)
    await friend.page.getByLabel('Password').press('Enter')
    await friend.page.getByText('For Saturday').waitFor()
    expect(await friend.page.locator('body').textContent()).toContain('Ann')
    // The tab that set it shows it again.
    await page.reload()
    await start.upload('letter.txt').is('done')
    await chip(page, 'Password').tap()
    expect(await page.getByRole('textbox', { name: 'Password' }).inputValue()).toBe(password)
    await page.getByRole('button', { name: 'No password' }).tap()
    await page.getByText('Opens for anyone who has the link. Stops working after one download.').waitFor()
    expect(start.trouble()).toEqual([])
  })

  test('says what is missing first, and goes without it', async () => {
    await using start = await openStartPage(browser(), host.url)
    const { page } = start
    await page.route('**/api/v1/uploads', async (route) => {
      const about = route.request().headers()['upload-metadata'] ?? ''
      const refused = { success: false, message: '', error: 'CONTENT_REFUSED' }
      if (about.includes(btoa('bad.txt'))) await route.fulfill({ status: 403, json: refused })
      else await route.continue()
    })
    await start.choose(chosenFile('good.txt', Buffer.from('good')), chosenFile('bad.txt', Buffer.from('bad')))
    await start.upload('good.txt').is('done')
    await page.getByRole('heading', { name: '1 file is missing' }).waitFor()
    expect(await page.locator('.upload').first().getAttribute('data-state')).toBe('failed')
    expect(await faultsInBothColours(page)).toEqual([])
    // It is open, so what comes goes into it.
    const link = await start.transferLink()
    await send(start, 'next.txt')
    expect(await start.transferLink()).toBe(link)
    await page.getByRole('button', { name: 'Send without it' }).click()
    await page.getByRole('heading', { name: '2 files are safe on the server' }).waitFor()
    await using friend = await openPage(browser(), host.url)
    await friend.page.goto(link)
    expect(await friend.page.locator('.file-item').count()).toBe(2)
  })

  test('is deleted with its files, in the middle too', async () => {
    await using start = await openStartPage(browser(), host.url)
    const { page } = start
    await start.throttle(MIB / 2)
    await start.choose(chosenFile('a.txt', Buffer.from('a')), chosenFile('film.mkv', Buffer.alloc(3 * MIB)))
    await start.upload('a.txt').is('done')
    const link = await start.transferLink()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Keep it' }).click()
    expect((await fetch(link)).status).toBe(200)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete for good' }).click()
    await page.locator('.upload').first().waitFor({ state: 'detached' })
    expect((await fetch(link)).status).toBe(404)
    expect(await page.locator('.earlier').count()).toBe(0)
    await send(start, 'next.txt')
    expect(await start.transferLink()).not.toBe(link)
  })
})
