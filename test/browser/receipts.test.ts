/** What guests have uploaded by mistake, and delete again from the browser that has sent it. */
// Only in test:all: test/cluster/uploads/receipts.test.ts has the same by its interface.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  describeInBrowser,
  faultsInBothColours,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser/browser.ts'
import { goOnAs } from '../support/browser/signed-in-page.ts'
import { chosenFile, isAlive, openStartPage } from '../support/browser/start-page.ts'
import { caller } from '../support/clients/caller.ts'
import { signedIn } from '../support/clients/site-visitor.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const MIB = 1024 ** 2

describeInBrowser('a guest', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast({ signUp: 'open' })
  })
  afterAll(() => host.stop())
  const statusOf = async (link: string) => (await fetch(link, { method: 'HEAD' })).status

  test('deletes a wrong file after being asked once, and keeps it on second thoughts', async () => {
    await using start = await openStartPage(browser(), host.url)
    const { page } = start
    await start.choose(chosenFile('wrong.txt', Buffer.from('secret')))
    const file = start.upload('wrong.txt')
    await file.is('done')
    const link = await file.link()
    await file.press('Delete')
    expect(await file.row.textContent()).toContain('Its link stops working at once. This cannot be undone.')
    const buttons = file.row.locator('.upload-actions').getByRole('button')
    expect(await buttons.allTextContents()).toEqual(['Keep the file', 'Delete for good'])
    await page.keyboard.press('Escape')
    await file.row.getByRole('button', { name: 'More: wrong.txt' }).and(page.locator(':focus')).waitFor()
    expect(await statusOf(link)).toBe(200)
    await page.reload()
    await isAlive(page)
    await file.press('Delete')
    await file.press('Delete for good')
    await file.is('deleted')
    expect(await statusOf(link)).toBe(404)
    await file.press('Remove from list')
    await file.row.waitFor({ state: 'detached' })
    expect(await page.locator('.upload, .earlier').count()).toBe(0)
    expect(start.trouble()).toEqual([])
  })

  test('reads every word of every button on a phone, in German too', async () => {
    for (const [locale, remove] of [
      ['en-GB', 'Delete'],
      ['de-DE', 'Löschen'],
    ] as const) {
      await using start = await openStartPage(browser(), host.url, { ...PHONE, locale })
      await start.choose(chosenFile('before.txt', Buffer.from('before')))
      await start.upload('before.txt').is('done')
      const names = ['one.txt', 'two.txt']
      await start.choose(...names.map((name) => chosenFile(name, Buffer.from(name))))
      for (const name of names) await start.upload(name).is('done')
      await start.upload('two.txt').press(remove)
      await start.page.locator('.earlier summary').tap()
      expect([await pixelsBeside(start.page), await smallTargets(start.page)]).toEqual([0, []])
    }
  })

  test('finds earlier transfers in another tab, and only those that are still there', async () => {
    await using start = await openStartPage(browser(), host.url, { reducedMotion: 'reduce' })
    for (const name of ['one.txt', 'two.txt', 'three.txt']) {
      // Each is a transfer: the one before is whole.
      await start.choose(chosenFile(name, Buffer.from(name)))
      await start.upload(name).is('done')
    }
    const tab = await start.page.context().newPage()
    await tab.goto('/')
    await tab.getByText('3 earlier uploads from this browser').click()
    for (const colours of ['1280', 'phone']) {
      if (colours === 'phone') await tab.setViewportSize(PHONE.viewport)
      expect(await faultsInBothColours(tab)).toEqual([])
      expect(await pixelsBeside(tab)).toBe(0)
    }
    const link = (await tab.getByRole('link', { name: 'one.txt', exact: true }).getAttribute('href')) ?? ''
    expect(link).toStartWith('/l/')
    await tab.getByRole('link', { name: 'Manage: one.txt' }).click()
    await tab.getByLabel('Title').fill('For Saturday')
    await tab.getByRole('button', { name: 'Save' }).click()
    await tab.getByText('Saved.').waitFor()
    await tab.getByText('Manage it on another device').click()
    expect(await faultsInBothColours(tab)).toEqual([])
    expect([await pixelsBeside(tab), await smallTargets(tab)]).toEqual([0, []])
    await using elsewhere = await openPage(browser(), host.url)
    await elsewhere.page.goto(tab.url())
    await elsewhere.page.getByText('Manage it on another device').click()
    await elsewhere.page.getByRole('button', { name: 'Remember in this browser' }).click()
    await elsewhere.page.getByText('This browser remembers it').waitFor()
    await elsewhere.page.goto('/')
    await elsewhere.page.getByText('1 earlier upload from this browser').waitFor()
    expect(elsewhere.trouble()).toEqual([])
    await tab.goto('/')
    await tab.getByText('3 earlier uploads from this browser').click()
    await tab.getByRole('link', { name: 'Manage: For Saturday' }).click()
    await tab.getByText('Delete', { exact: true }).click()
    await tab.getByRole('button', { name: 'Delete for good' }).click()
    await eventually('it is gone', async () => (await statusOf(host.url + link)) === 404)
    await fetch(`${host.url}/api/v1/receipt/${await receiptOf(tab, 'three.txt')}`, { method: 'DELETE' })
    await tab.goto('/')
    await tab.getByText('2 earlier uploads from this browser').click()
    await tab.getByText('1 earlier upload from this browser').waitFor()
    expect(await statusOf(host.url + link)).toBe(404)
  })

  test('takes earlier uploads into an account after signing in, all at once', async () => {
    const { username, apiKey } = await host.addAccount()
    await using start = await openStartPage(browser(), host.url, { reducedMotion: 'reduce' })
    const { page } = start
    for (const names of [['one.txt'], ['two.txt', 'three.txt']]) {
      await start.choose(...names.map((name) => chosenFile(name, Buffer.from(name))))
      for (const name of names) await start.upload(name).is('done')
    }
    const link = await start.transferLink()
    await goOnAs(page, host.url, await signedIn(host, username))
    const tab = await page.context().newPage()
    await tab.goto('/')
    await tab.getByText('This browser uploaded 3 files without an account.').waitFor()
    await tab.setViewportSize(PHONE.viewport)
    expect(await faultsInBothColours(tab)).toEqual([])
    expect(await pixelsBeside(tab)).toBe(0)
    await tab.goto('/files')
    await tab.getByRole('button', { name: 'Not now' }).click()
    await tab.getByText('This browser uploaded').waitFor({ state: 'detached' })
    await tab.goto('/')
    await tab.getByText('2 earlier uploads from this browser').waitFor()
    expect(await tab.getByText('This browser uploaded').count()).toBe(0)
    await tab.evaluate("localStorage.removeItem('holdfast-claim-declined')")
    await tab.reload()
    await tab.getByRole('button', { name: 'Move to my account' }).click()
    await tab.getByText('3 files that this browser uploaded before are in your account now.').waitFor()
    await tab.locator('.earlier').waitFor({ state: 'detached' })
    const { files, account } = caller(host.url, apiKey)
    expect((await files()).map(({ name }) => name).sort()).toEqual(['one.txt', 'three.txt', 'two.txt'])
    expect(await account()).toMatchObject({ files_count: 3 })
    expect(await statusOf(link)).toBe(200)
    expect(start.trouble()).toEqual([])
  })

  test('has an account, and in it what this browser uploaded before, unless that is not wanted', async () => {
    for (const isWanted of [true, false]) {
      await using start = await openStartPage(browser(), host.url, { reducedMotion: 'reduce' })
      const { page } = start
      const names = ['one.txt', 'two.txt']
      await start.choose(...names.map((name) => chosenFile(name, Buffer.from(name))))
      for (const name of names) await start.upload(name).is('done')
      const link = await start.transferLink()
      await page.goto('/sign-up')
      const choice = page.getByLabel('Move the 2 files that this browser uploaded before into the account')
      expect(await choice.isChecked()).toBe(true)
      expect(await faultsInBothColours(page)).toEqual([])
      if (!isWanted) await choice.uncheck()
      await page.getByLabel('User name').fill(isWanted ? 'mover' : 'leaver')
      await page.getByLabel('Password').fill('what the kelp holds on to')
      await page.getByRole('button', { name: 'Create account' }).click()
      if (isWanted) {
        await page.getByText('2 files that this browser uploaded before are in your account now.').waitFor()
      } else {
        await page.getByText('This browser uploaded 2 files without an account.').waitFor()
        await page.setViewportSize(PHONE.viewport)
      }
      expect([await pixelsBeside(page), await faultsInBothColours(page)]).toEqual([0, []])
      expect(await statusOf(link)).toBe(200)
      expect(start.trouble()).toEqual([])
    }
  })

  test('who cancels while the bytes are coming and leaves at once finds nothing again, here or on the server', async () => {
    await using start = await openStartPage(browser(), host.url)
    await start.throttle(MIB)
    await start.choose(chosenFile('film.mkv', Buffer.alloc(4 * MIB)))
    const film = start.upload('film.mkv')
    await film.passes(20)
    const link = await film.link()
    await film.press('Pause')
    await film.press('Cancel')
    await film.is('cancelled')
    await start.throttle(null)
    await start.page.reload()
    await eventually('it is gone', async () => (await statusOf(link)) === 404)
    await isAlive(start.page)
    await start.page.waitForSelector('.upload', { state: 'detached' })
    await start.choose(chosenFile('another.txt', Buffer.from('another')))
    await start.upload('another.txt').is('done')
    expect(await start.page.locator('.upload').count()).toBe(1)
  })

  function receiptOf(page: { evaluate<T>(text: string): Promise<T> }, name: string): Promise<string> {
    return page.evaluate<string>(
      `JSON.parse(localStorage.getItem('holdfast-receipts')).find((it) => it.name === ${JSON.stringify(name)}).receipt`,
    )
  }
})
