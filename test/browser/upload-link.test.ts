/** The page of a link that asks for files: what is asked, sending by drop and by a plain form, and taking back. */
// Only in test:all: test/cluster/sharing/links/upload-links.test.ts has the same by its interface.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import {
  describeInBrowser,
  faultsInBothColours,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser/browser.ts'
import { chosenFile, startPageIn } from '../support/browser/start-page.ts'
import { changeLink, makeLink } from '../support/clients/links.ts'
import { api, makeFolder } from '../support/clients/public.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

describeInBrowser('the page of an upload link', (browser) => {
  let host: TestHoldfast
  let key: string
  let folder: string
  let link: string

  beforeAll(async () => {
    host = await startHoldfast()
    key = (await host.addAccount('ann')).apiKey
    folder = await makeFolder(host, key)
    link = await makeLink(host, key, {
      folders: [folder],
      name: 'Photos of the trip',
      message: 'All that you have, please.\nAlso the bad ones.',
      uploads: {
        max_files: 3,
        types: ['.txt', 'image/*'],
        fields: { sender: 'required', address: 'optional' },
      },
    })
  })
  afterAll(() => host.stop())

  const arrived = z.object({
    data: z.array(z.object({ name: z.string(), sender: z.string().nullable() })),
  })
  const contributions = async () =>
    arrived.parse((await api(host, key, 'GET', `/api/v1/links/${link}/contributions`)).body).data

  test('sends by its button once the name is there, shows no link, and takes back; full, it says so', async () => {
    await using start = await startPageIn(await openPage(browser(), `${host.url}`, { locale: 'en-GB' }))
    const { page } = start
    await page.goto(`/l/${link}`)
    expect(await page.title()).toContain('Photos of the trip')
    await start.choose(chosenFile('one.txt', Buffer.from('one')))
    expect(await contributions()).toEqual([])
    expect(await page.getByRole('button', { name: 'Send 1 file' }).isDisabled()).toBe(true)
    await page.getByLabel('Your name', { exact: true }).fill('Ben')
    await page.getByLabel('Your name', { exact: true }).press('Tab')
    expect(await faultsInBothColours(page)).toEqual([])
    expect(await page.locator('.upload').count()).toBe(0)
    await page.getByRole('button', { name: 'Send 1 file' }).click()
    await start.upload('one.txt').is('done')
    await start.choose(chosenFile('other.txt', Buffer.from('other')))
    await page.getByRole('button', { name: 'Cancel' }).click()
    await start.choose(chosenFile('two.exe', Buffer.from('two')))
    await page.getByLabel('Your name', { exact: true }).press('Enter')
    await start.upload('two.exe').is('failed')
    expect(await start.upload('two.exe').row.textContent()).toContain('does not take files of this kind')
    expect(await contributions()).toMatchObject([{ name: 'one.txt', sender: 'Ben' }])
    expect(await page.locator('.link-address').count()).toBe(0)
    expect(await faultsInBothColours(page)).toEqual([])
    await page.reload()
    await start.upload('one.txt').press('Withdraw')
    await start.upload('one.txt').press('Withdraw for good')
    await start.upload('one.txt').is('deleted')
    expect(await contributions()).toEqual([])
    expect(start.trouble().map((text) => text.slice(0, 3))).toEqual(['415'])
    await start.choose(chosenFile('gone.txt', Buffer.from('gone')))
    await page.getByRole('button', { name: 'Send 1 file' }).click()
    await start.upload('gone.txt').is('done')
    const tab = await page.context().newPage()
    await tab.goto(`/l/${link}`)
    await tab.getByText('1 file sent from this browser').click()
    await tab.getByRole('link', { name: 'Receipt: gone.txt' }).click()
    await tab.getByText('You sent this file to ann').waitFor()
    expect(await faultsInBothColours(tab)).toEqual([])
    expect([await pixelsBeside(tab), await smallTargets(tab)]).toEqual([0, []])
    await tab.getByText('Withdraw', { exact: true }).click()
    await tab.getByRole('button', { name: 'Withdraw for good' }).click()
    await tab.getByRole('heading', { name: 'The file is withdrawn' }).waitFor()
    await tab.goto(`/l/${link}`)
    await tab.getByRole('heading', { name: 'Photos of the trip' }).waitFor()
    expect(await tab.locator('.earlier').count()).toBe(0)
    await tab.close()
    await changeLink(host, key, link, { uploads: { max_files: 1 } })
    await page.reload()
    expect(await page.locator('.asking-facts').textContent()).toContain('Up to 1 file.')
    await start.choose(
      chosenFile('last.txt', Buffer.from('last')),
      chosenFile('more.txt', Buffer.from('more')),
    )
    await page.getByText('This link takes only 1 more file.').waitFor()
    await start.choose(chosenFile('last.txt', Buffer.from('last')))
    await page.getByRole('button', { name: 'Send 1 file' }).click()
    await start.upload('last.txt').is('done')
    await page.reload()
    expect(await page.getByRole('status').allTextContents()).toContain(
      'This link takes no more files. Ask the person who sent it.',
    )
    await changeLink(host, key, link, { uploads: { max_files: 3 } })
  })

  test('fits a phone, in German, and sends without a script', async () => {
    await using visit = await openPage(browser(), host.url, {
      ...PHONE,
      locale: 'de-DE',
      javaScriptEnabled: false,
    })
    const { page } = visit
    await page.goto(`/l/${link}`)
    expect(await page.getByText('ann bittet dich um Dateien.').count()).toBe(1)
    expect([await pixelsBeside(page), await smallTargets(page)]).toEqual([0, []])
    await page.getByLabel('Dein Name', { exact: true }).fill('Cy')
    await page.locator('.zone-field').setInputFiles(chosenFile('form.txt', Buffer.from('form')))
    await page.getByRole('button', { name: 'Schicken' }).click()
    expect(await page.getByText('Die Datei ist angekommen.').count()).toBe(1)
    expect(await contributions()).toMatchObject([{ name: 'form.txt', sender: 'Cy' }, { name: 'last.txt' }])
  })
})
