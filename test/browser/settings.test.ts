/** The settings, as somebody uses them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { z } from 'zod'
import { MINUTE } from '../../src/domain/clock.ts'
import {
  accessibilityFaults,
  addAuthenticator,
  describeInBrowser,
  faultsInBothColours,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
  type Visit,
} from '../support/browser/browser.ts'
import { tabTo } from '../support/browser/keyboard.ts'
import { bearer, makeFolder, upload } from '../support/clients/public.ts'
import { PASSWORD, signedIn } from '../support/clients/site-visitor.ts'
import { signatureOf, startWebhookReceiver } from '../support/clients/webhook-receiver.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { codesAt } from '../support/sign-in/codes.ts'

const PATHS = ['/settings', '/settings/keys', '/settings/webhooks', '/settings/security', '/settings/account']
const NEW_PASSWORD = 'granite lantern under moss'

describeInBrowser('the settings', (browser) => {
  let host: TestHoldfast
  const codeOf = codesAt(() => host.clock.now())
  beforeAll(async () => {
    host = await startHoldfast({ signUp: 'open', webhookPrivateNetworks: true })
  }, 120_000)
  afterAll(() => host.stop())

  /** Somebody new who is signed in; `key`: their first. */
  async function openSettings(
    path: string,
    options: BrowserContextOptions = {},
  ): Promise<Visit & { username: string; key: string }> {
    const { username, apiKey: key } = await host.addAccount()
    const visit = await openPage(browser(), host.url, options)
    const { cookies } = await signedIn(host, username)
    await visit.page
      .context()
      .addCookies([...cookies].map(([name, value]) => ({ name, value, url: host.url })))
    await visit.page.goto(path)
    return { ...visit, username, key }
  }

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const said = (page: Page, text: string) => page.locator('.notice').filter({ hasText: text }).waitFor()
  const part = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true })
  /** The password in the dialog, or the form, that asks for it. */
  const own = (page: Page) => page.getByLabel('Your current password').last()
  /** Whether somebody gets in with that password. */
  const enters = async (username: string, password: string) =>
    (
      await fetch(`${host.url}/api/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ username, password }),
      })
    ).status === 200

  test('are for who is signed in', async () => {
    await using opened = await openPage(browser(), host.url)
    await opened.page.goto('/settings/keys')
    expect(opened.page.url()).toBe(`${host.url}/sign-in?next=%2Fsettings%2Fkeys`)
    expect((await opened.page.goto('/settings/nothing'))?.status()).toBe(404)
  })

  test('have no fault in light and in dark, and fit on a phone in German', async () => {
    await using opened = await openSettings('/settings', { reducedMotion: 'reduce', locale: 'de-DE' })
    const { page, key } = opened
    await upload(host, { key, folder: await makeFolder(host, key), name: 'a.jpg' })
    await upload(host, { key, name: 'b.unknown' })
    for (const path of PATHS) {
      await page.setViewportSize({ width: 1280, height: 720 })
      await page.goto(path)
      await page.locator('.part').first().waitFor()
      await page.waitForSelector('.coming', { state: 'detached' })
      const faults = await faultsInBothColours(page)
      await page.setViewportSize(PHONE.viewport)
      const found = { faults, beside: await pixelsBeside(page), small: await smallTargets(page) }
      expect({ path, ...found }).toEqual({ path, faults: [], beside: 0, small: [] })
    }
    expect(opened.trouble()).toEqual([])
  })

  test('ask for the sign-in once more before a key is made, and then go on with it', async () => {
    await using opened = await openSettings('/settings/keys', { reducedMotion: 'reduce' })
    const { page } = opened
    host.clock.advance(10 * MINUTE)
    await button(page, 'New key').click()
    await page.getByLabel('Name', { exact: true }).fill('Backup')
    await button(page, 'Create key').click()
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
    const password = dialog.getByLabel('Your password')
    await password.fill('not it')
    expect(await faultsInBothColours(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Confirm', exact: true }).click()
    await dialog.getByText('Wrong password.').waitFor()
    // Who thinks better of it is where they were, with what they have typed.
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Backup')
    await button(page, 'Create key').and(page.locator(':focus')).press('Enter')
    await password.fill(PASSWORD)
    await page.setViewportSize(PHONE.viewport)
    expect([await pixelsBeside(page), await smallTargets(page)]).toEqual([0, []])
    await password.press('Enter')
    const made = page.getByRole('dialog', { name: 'Your new key' })
    await made.waitFor()
    // Neither closes it while the key is not kept.
    for (const key of ['Enter', 'Escape']) await page.keyboard.press(key)
    await made.getByRole('heading', { name: 'Your new key' }).and(page.locator(':focus')).waitFor()
    expect(opened.trouble().filter((each) => !each.includes('403'))).toEqual([])
  })

  test('show what is stored by kind and by folder, and the requests of each day', async () => {
    await using opened = await openSettings('/files')
    const { page, key } = opened
    const folder = await makeFolder(host, key, { name: 'Holidays' })
    await upload(host, { key, folder, name: 'a.jpg', bytes: Buffer.alloc(3 * 1024) })
    await upload(host, { key, name: 'b.pdf', bytes: Buffer.alloc(1024) })
    await host.settle()
    await page.getByText(opened.username, { exact: true }).click()
    await page.getByRole('menuitem', { name: 'Settings' }).click()
    const storage = part(page, 'Storage')
    await storage.getByText('4 KB of 10 GB used').waitFor()
    const lines = await storage.locator('.legend li').allTextContents()
    expect(lines).toContain('Pictures3 KB')
    expect(lines).toContain('Documents1 KB')
    expect(await storage.locator('dt').allTextContents()).toEqual(['Holidays', 'Not in a folder'])
    expect(await storage.locator('dd').allTextContents()).toEqual(['3 KB', '1 KB'])
    const requests = part(page, 'API requests')
    await requests.getByText('As a table').click()
    const rows = requests.getByRole('row')
    expect(await rows.count()).toBe(31)
    const [today = 0] = (await rows.last().getByRole('cell').allTextContents()).map(Number)
    expect(today).toBeGreaterThanOrEqual(3)
    await storage.getByRole('link', { name: 'Holidays' }).click()
    await page.waitForURL(`${host.url}/files/${folder}`)

    await host.database
      .updateTable('accounts')
      .set({ quota: 4500 })
      .where('username', '=', opened.username)
      .execute()
    await host.runJobs()
    const nearlyFull = page.getByText(/^Your storage is nearly full: 4 KB of 4\.4 KB used\.$/)
    await nearlyFull.waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.goto('/settings')
    await nearlyFull.waitFor()
    expect(opened.trouble()).toEqual([])
  })

  test('make a key by keyboard alone, which is shown once, works in its folder, and is refused once revoked', async () => {
    await using opened = await openSettings('/settings/keys')
    const { page } = opened
    const folder = await makeFolder(host, opened.key, { name: 'Shots' })
    await button(page, 'New key').focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('All folders').waitFor({ state: 'attached' })
    await dialog.locator(`option[value="${folder}"]`).waitFor({ state: 'attached' })
    await tabTo(page, dialog.getByLabel('Name', { exact: true }))
    await page.keyboard.type('Screenshots')
    await tabTo(page, dialog.getByRole('checkbox', { name: /^Read/ }))
    await page.keyboard.press('Space')
    await tabTo(page, dialog.getByLabel('Access to'))
    await page.keyboard.type('Shots')
    await tabTo(page, dialog.getByLabel('Expiration'))
    await page.keyboard.type('90')
    await tabTo(page, button(page, 'Create key'))
    await page.keyboard.press('Enter')

    const box = dialog.locator('.code-box').first()
    await box.waitFor()
    const key = (await box.locator('code').textContent()) ?? ''
    expect(key).toMatch(/^hf_[\w-]{43}$/)
    expect(await accessibilityFaults(page)).toEqual([])
    const examples = await dialog.locator('.example code').allTextContents()
    expect(examples[0]).toBe(
      `curl -H "Authorization: Bearer ${key}" -F "file=@picture.jpg" ${host.url}/api/v1/upload`,
    )
    expect(examples[1]).toContain(`holdfast login --key-stdin ${host.url}`)
    await dialog.getByText('ShareX', { exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button(page, 'Download holdfast.sxcu').click(),
    ])
    expect(download.suggestedFilename()).toBe('holdfast.sxcu')
    const sharex: unknown = await Bun.file(await download.path()).json()
    expect(sharex).toMatchObject({
      RequestURL: `${host.url}/api/v1/upload`,
      Headers: { Authorization: `Bearer ${key}` },
    })
    await button(page, 'Done').click()
    expect(await page.content()).not.toContain(key)

    await upload(host, { key, name: 'shot.png' })
    const asked = async () => (await fetch(`${host.url}/api/v1/files`, { headers: bearer(key) })).status
    expect(await asked()).toBe(200)
    await host.runJobs()
    await page.reload()
    const row = page.getByRole('listitem').filter({ hasText: 'Screenshots' })
    const facts = await row.textContent()
    for (const fact of ['Read, Upload · Only “Shots”', 'Expires on', 'last used on', key.slice(0, 11)])
      expect(facts).toContain(fact)
    await button(page, 'Revoke “Screenshots”').click()
    await button(page, 'Revoke').click()
    await said(page, '“Screenshots” is revoked')
    await row.waitFor({ state: 'detached' })
    expect(await asked()).toBe(401)
    expect(opened.trouble()).toEqual([])
  })

  test('add a webhook, whose secret signs its test, and pause, resume, change and delete it', async () => {
    await using opened = await openSettings('/settings/webhooks')
    await using receiver = startWebhookReceiver()
    const { page } = opened
    await button(page, 'Add webhook').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address').fill('ftp://127.0.0.1/')
    await dialog.getByRole('checkbox', { name: 'Storage is nearly full' }).uncheck()
    await page.keyboard.press('Enter')
    await dialog.getByText('Enter an address that begins with').waitFor()
    await dialog.getByLabel('Address').fill(receiver.url)
    await page.keyboard.press('Enter')
    const secret = (await dialog.locator('.code-box code').textContent()) ?? ''
    expect(await accessibilityFaults(page)).toEqual([])
    await button(page, 'Done').click()
    expect(await page.content()).not.toContain(secret)

    const row = page.getByRole('listitem').filter({ hasText: receiver.url })
    await row.getByText('A file came by a link, First download of a link').waitFor()
    await row.getByRole('button', { name: /^Send a test/ }).click()
    await said(page, 'The test is on its way')
    const [event] = await receiver.received(1, () => host.runJobs())
    expect(event?.signature).toBe(event === undefined ? '' : signatureOf(secret, event))
    await row.getByText('Delivered', { exact: true }).waitFor()
    expect(await faultsInBothColours(page)).toEqual([])
    await row.getByRole('button', { name: /^Send again/ }).click()
    await said(page, 'The event is on its way again')
    const [, again] = await receiver.received(2, () => host.runJobs())
    expect(again?.id).toBe(event?.id ?? '')

    await row.getByRole('button', { name: /^Pause/ }).click()
    await row.getByText('Paused since').waitFor()
    await row.getByRole('button', { name: /^Resume/ }).click()
    await row.getByText('In use').waitFor()
    await row.getByRole('button', { name: /^Change/ }).click()
    await dialog.getByLabel('Address').fill(`${receiver.url}/other`)
    await dialog.getByRole('checkbox', { name: 'Storage is nearly full' }).check()
    expect(await accessibilityFaults(page)).toEqual([])
    await button(page, 'Save').click()
    await said(page, 'The webhook is changed')
    await row.getByText('All events').waitFor()
    await row.getByText(`${receiver.url}/other`, { exact: true }).waitFor()
    await row.getByRole('button', { name: /^Delete/ }).click()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No webhooks yet.').waitFor()
    expect(opened.trouble()).toEqual([])
  })

  test('change the password, with a meter while it is typed, and sign other browsers out', async () => {
    await using opened = await openSettings('/settings/security')
    const { page, username } = opened
    expect(await enters(username, PASSWORD)).toBe(true)
    await page.reload()
    const sessions = part(page, 'Where you are signed in')
    await sessions.getByRole('listitem').nth(1).waitFor()
    await button(page, 'Sign out all others').click()
    await said(page, '1 browser is signed out')

    expect(await enters(username, PASSWORD)).toBe(true)
    const password = part(page, 'Password')
    const meter = password.locator('.strength')
    for (const [typed, verdict] of [
      ['kettle', 'Too short'],
      ['password1', 'Too easy to guess'],
      [NEW_PASSWORD, 'Very good'],
    ] as const) {
      await password.getByLabel('New password').fill(typed)
      await meter.getByText(verdict).waitFor()
    }
    await own(page).fill('not it')
    await button(page, 'Change password').click()
    await password.getByText('Wrong password.').waitFor()
    await own(page).fill(PASSWORD)
    await button(page, 'Change password').click()
    await said(page, 'Password changed')
    await page.reload()
    await sessions.getByRole('listitem').first().waitFor()
    expect(await sessions.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('This browser'),
    ])
    expect([await enters(username, PASSWORD), await enters(username, NEW_PASSWORD)]).toEqual([false, true])
    await page.reload()
    await sessions.getByRole('button', { name: /^Sign out Unknown/ }).click()
    await said(page, 'That browser is signed out')
    expect(opened.trouble().filter((each) => !each.startsWith('403'))).toEqual([])
  })

  test('set codes up with recovery codes, make new ones, and turn codes off', async () => {
    await using opened = await openSettings('/settings/security')
    const { page, username } = opened
    await button(page, 'Set up codes').click()
    await own(page).fill(PASSWORD)
    await button(page, 'Continue').click()
    await page.getByRole('img', { name: 'QR code for the app' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    const secret = (await page.locator('.code-box code').textContent()) ?? ''
    await page.getByLabel('Code', { exact: true }).fill('000000')
    await button(page, 'Turn codes on').click()
    await page.getByText('This code is not valid.').waitFor()
    await page.getByLabel('Code', { exact: true }).fill(codeOf(secret))
    await button(page, 'Turn codes on').click()
    const codes = page.locator('.recovery-codes code')
    await codes.first().waitFor()
    const first = await codes.allTextContents()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    const download = page.waitForEvent('download')
    await button(page, 'Download as text').click()
    const kept = await Bun.file(await (await download).path()).text()
    expect(kept.split('\n')).toEqual(expect.arrayContaining([host.url, username, ...first]))
    await button(page, 'I have saved them').click()
    await page.getByText('Codes are on.').waitFor()

    await button(page, 'New recovery codes').click()
    await own(page).fill(PASSWORD)
    await page.getByRole('dialog').getByRole('button', { name: 'New recovery codes' }).click()
    await codes.first().waitFor()
    const second = await codes.allTextContents()
    expect(second).toHaveLength(10)
    expect(second.filter((code) => first.includes(code))).toEqual([])
    await button(page, 'I have saved them').click()

    const next = async () => {
      const answer = await fetch(`${host.url}/api/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ username, password: PASSWORD }),
      })
      return z.object({ data: z.object({ next: z.string() }) }).parse(await answer.json()).data.next
    }
    expect(await next()).toBe('code')
    await button(page, 'Turn codes off').click()
    await own(page).fill(PASSWORD)
    await page.getByRole('dialog').getByRole('button', { name: 'Turn codes off' }).click()
    await said(page, 'Codes are off')
    expect(await next()).toBe('signed in')
    expect(opened.trouble().filter((each) => !each.startsWith('403'))).toEqual([])
  })

  test('add a passkey that signs in, name it anew and remove it', async () => {
    await using opened = await openSettings('/settings/security')
    const { page } = opened
    await addAuthenticator(page)
    await button(page, 'Add a passkey').click()
    await page.getByLabel('Name', { exact: true }).fill('Laptop')
    await own(page).fill(PASSWORD)
    await button(page, 'Continue').click()
    await said(page, 'Passkey added')
    await button(page, 'Rename “Laptop”').click()
    await page.getByLabel('Name', { exact: true }).fill('Old laptop')
    await button(page, 'Save').click()
    await said(page, 'Passkey renamed')

    await page.getByText(opened.username, { exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.goto('/sign-in?next=/settings/security')
    await page.getByRole('button', { name: 'passkey' }).click()
    await page.waitForURL(`${host.url}/settings/security`)
    await button(page, 'Remove “Old laptop”').click()
    await button(page, 'Remove').click()
    await said(page, 'Passkey removed')
    await part(page, 'Passkeys').getByText('No passkeys yet.').waitFor()
    expect(opened.trouble()).toEqual([])
  })

  test('change the user name, and delete the account with everything in it', async () => {
    await using opened = await openSettings('/settings/account')
    const { page, key, username } = opened
    const { slug } = await upload(host, { key, name: 'a.txt' })
    const name = `${username}-new`
    await page.getByRole('textbox', { name: 'User name' }).fill(name)
    await own(page).fill(PASSWORD)
    await button(page, 'Change user name').click()
    await said(page, `Your user name is now “${name}”`)
    expect(await page.locator('.who').first().textContent()).toBe(name)

    await button(page, 'Delete the account …').click()
    await page.getByText('1 file with').waitFor()
    const remove = button(page, 'Delete everything')
    expect(await remove.isDisabled()).toBe(true)
    await page.getByLabel(`type “${name}”`).fill(name)
    await own(page).fill(PASSWORD)
    await remove.click()
    await page.waitForURL(`${host.url}/`)
    expect(await page.getByRole('link', { name: 'Sign in' }).isVisible()).toBe(true)
    expect((await fetch(`${host.url}/d/${slug}`)).status).toBe(404)
    expect((await fetch(`${host.url}/api/v1/files`, { headers: bearer(key) })).status).toBe(401)
    expect(await enters(name, PASSWORD)).toBe(false)
    expect(opened.trouble()).toEqual([])
  })

  test('say what is wrong when nobody answers or the session is over, and go on afterwards', async () => {
    await using opened = await openSettings('/settings')
    const { page } = opened
    await page.route('**/api/v1/account/storage', (route) => route.abort())
    await page.reload()
    const storage = part(page, 'Storage')
    await storage.getByText('The server cannot be reached').waitFor()
    await page.unroute('**/api/v1/account/storage')
    await button(page, 'Try again').click()
    await storage.getByText('of 10 GB used').waitFor()
    await page.goto('/settings/keys')
    await button(page, 'New key').waitFor()
    await page.context().clearCookies()
    await button(page, 'New key').click()
    await page.getByLabel('Name', { exact: true }).fill('Too late')
    await button(page, 'Create key').click()
    await page.getByText('You have been signed out').waitFor()
  })
})
