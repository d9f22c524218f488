/** One link to all that was dropped on the start page, by a guest and by somebody who is signed in. */
// Only in test:all: test/cluster/sharing/links/guest-links.test.ts has the same by its interface.
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
import { openPageAs } from '../support/browser/signed-in-page.ts'
import { chosenFile, openStartPage, type StartPage, startPageIn } from '../support/browser/start-page.ts'
import { api, GENEROUS } from '../support/clients/public.ts'
import { signedIn } from '../support/clients/site-visitor.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const NAMES = ['one.txt', 'two.txt', 'three.txt']

describeInBrowser('one link to several uploads', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
  })
  afterAll(() => host.stop())

  async function uploadAll(start: StartPage): Promise<void> {
    await start.choose(...NAMES.map((name) => chosenFile(name, Buffer.from(name))))
    for (const name of NAMES) await start.upload(name).is('done')
  }

  test('is made and copied by one press, opens all of them, and is taken back later', async () => {
    await using start = await openStartPage(browser(), host.url, {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const { page } = start
    await uploadAll(start)
    await page.getByRole('button', { name: 'Get one link to all 3 files' }).press('Enter')
    await page.getByRole('status').getByText('The link is made and copied.').waitFor()
    await page.locator('.one-link .copy:focus').waitFor()
    const link = await linkOn(page)
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(link)
    await using friend = await openPage(browser(), host.url)
    await friend.page.goto(link)
    await friend.page.locator('.file-item').nth(2).waitFor()
    expect((await friend.page.locator('.file-item').allTextContents()).join()).toContain('two.txt')
    // What comes later is not in it: another link is offered.
    await start.choose(chosenFile('four.txt', Buffer.from('4')))
    await page.getByRole('button', { name: 'Get one link to all 4 files' }).waitFor()
    const tab = await page.context().newPage()
    await tab.goto('/')
    await tab.getByText('5 earlier uploads from this browser').click()
    await tab.getByRole('link', { name: 'Manage: One link to 3 files' }).click()
    await tab.getByLabel('Title of its page').fill('For Saturday')
    await tab.getByLabel('New password').fill('sesame')
    await tab.getByRole('button', { name: 'Save' }).click()
    await tab.getByText('Saved, and in force at once.').waitFor()
    for (const colours of ['1280', 'phone']) {
      if (colours === 'phone') await tab.setViewportSize(PHONE.viewport)
      expect(await faultsInBothColours(tab)).toEqual([])
      expect([await pixelsBeside(tab), await smallTargets(tab)]).toEqual([0, []])
    }
    await friend.page.reload()
    await friend.page.getByLabel('Password').waitFor()
    await tab.goto('/')
    await tab.getByText('5 earlier uploads from this browser').click()
    await tab.getByRole('button', { name: 'Take back: For Saturday' }).click()
    await tab.getByText('Take this link back?').waitFor()
    await tab.getByRole('button', { name: 'Take back: For Saturday' }).click()
    await tab.getByText('4 earlier uploads from this browser').waitFor()
    expect((await fetch(link)).status).toBe(404)
    expect((await fetch(await start.upload('two.txt').link())).status).toBe(200)
    // After a reload what is new is by itself: what was there before may be for somebody else.
    await page.reload()
    await start.upload('four.txt').is('done')
    await start.choose(chosenFile('five.txt', Buffer.from('5')), chosenFile('six.txt', Buffer.from('6')))
    await page.getByRole('button', { name: 'Get one link to all 2 files' }).waitFor()
    await page.getByText('4 earlier uploads from this browser').click()
    await page.getByRole('button', { name: 'Forget all' }).click()
    expect(await faultsInBothColours(page)).toEqual([])
    await page.getByRole('button', { name: 'Forget them' }).click()
    await page.locator('.earlier').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Clear list' }).click()
    await page.getByText('2 earlier uploads from this browser').waitFor()
    expect(start.trouble()).toEqual([])
  })

  test('has a password and one download where somebody wants them, also to a single file on a phone', async () => {
    await using start = await openStartPage(browser(), host.url, { ...PHONE, reducedMotion: 'reduce' })
    const { page } = start
    await start.choose(chosenFile('letter.txt', Buffer.from('Dear all')))
    await start.upload('letter.txt').is('done')
    expect(await page.getByRole('button', { name: 'Make this link' }).isVisible()).toBe(false)
    await page.getByText('A link with a password, an end, or for one download').tap()
    await page.getByLabel('Password').fill('sesame')
    await page.getByLabel('Good for').selectOption('7 days')
    await page.getByLabel('One download only').check()
    expect(await faultsInBothColours(page)).toEqual([])
    expect([await pixelsBeside(page), await smallTargets(page)]).toEqual([0, []])
    await page.getByRole('button', { name: 'Make this link' }).tap()
    await page
      .getByText('It asks for the password. Send that another way. It is over after one download.')
      .waitFor()
    expect(await faultsInBothColours(page)).toEqual([])
    expect([await pixelsBeside(page), await smallTargets(page)]).toEqual([0, []])
    const link = await linkOn(page)
    await using friend = await openPage(browser(), host.url)
    await friend.page.goto(link)
    await friend.page.getByLabel('Password').fill('sesame')
    await friend.page.getByLabel('Password').press('Enter')
    await friend.page.getByText('letter.txt').first().waitFor()
    expect(start.trouble()).toEqual([])
  })

  test('stands in the list of links of whoever is signed in', async () => {
    const { username, apiKey } = await host.addAccount()
    const person = await signedIn(host, username)
    await using start = await startPageIn(await openPageAs(browser(), host.url, person))
    await uploadAll(start)
    await start.page.getByRole('button', { name: 'Get one link to all 3 files' }).click()
    const slug = (await linkOn(start.page)).split('/').at(-1) ?? ''
    await start.page.reload()
    expect(await linkOn(start.page)).toEndWith(slug)
    await eventually('it is in the account', async () => {
      const { body } = await api(host, apiKey, 'GET', '/api/v1/links')
      return JSON.stringify(body).includes(slug)
    })
    expect(await start.page.locator('.earlier').count()).toBe(0)
    expect(start.trouble()).toEqual([])
  })
})

async function linkOn(page: Page): Promise<string> {
  const link = page.locator('.one-link .link-address')
  await link.waitFor()
  return (await link.getAttribute('href')) ?? ''
}
