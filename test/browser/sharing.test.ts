/** Sharing from the file manager: a link with terms, made and taken back. */
// Only in test:all: files.test.ts works on the same page.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  describeInBrowser,
  faultsInBothColours,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser/browser.ts'
import { filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import { makeLink } from '../support/clients/links.ts'
import { api, deleteFile, GENEROUS, makeFolder, textBytes, upload, visit } from '../support/clients/public.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

describeInBrowser('sharing from the file manager', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
  })
  afterAll(() => host.stop())

  async function account() {
    const owner = await filesOwner(host)
    await makeFolder(host, owner.key, { name: 'Photos', public: 0 })
    const letter = await upload(host, { key: owner.key, name: 'letter.txt', bytes: textBytes('Dear all') })
    return { ...owner, letter }
  }

  test('makes a link for what is selected, by the keyboard alone, and shows its password once', async () => {
    await using files = await openFilesPage(browser(), await account())
    const { page } = files
    await files.row('Photos').focus()
    await files.press('Control+a')
    const share = files.button('Share …')
    await share.focus()
    await files.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Share 2 items' })
    await dialog.waitFor()
    await files.press('ArrowUp', 'Tab', 'Space', 'Tab', 'Space', 'Tab')
    // One was made, and another is typed.
    expect(await dialog.getByLabel('Password of the link').inputValue()).toMatch(/^(\w{4}-?){3}$/)
    await files.press('Control+a')
    await page.keyboard.type('open sesame')
    await files.press('Tab', 'Enter', 'Tab', 'Tab', 'Tab', 'Enter')
    await dialog.getByText('For one download.').waitFor()
    const link = (await dialog.locator('.link-address').getAttribute('href')) ?? ''
    const password = (await dialog.locator('code').textContent()) ?? ''
    expect(await page.locator('button.copy:focus').count()).toBe(1)

    expect(password).toBe('open sesame')
    const slug = new URL(link).pathname.split('/').at(-1) ?? ''
    const locked = await (await visit(host, `/l/${slug}`)).text()
    expect(locked).toContain('id="password-form"')
    expect(locked).not.toContain('letter.txt')
    const body = new URLSearchParams({ password }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await visit(host, `/l/${slug}`, { method: 'POST', headers, body })).status).toBe(303)
    const row = await host.database
      .selectFrom('links')
      .selectAll()
      .where('password_hash', 'is not', null)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ slug, max_downloads: 1 })
    // The first preset.
    expect((row.ends_at ?? 0) - row.created_at).toBeWithin(23 * 3_600_000, 25 * 3_600_000)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(files.trouble()).toEqual([])
  })

  test('is whole on a phone, in German, and says why the server refuses', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own, { ...PHONE, locale: 'de-DE' })
    const { page } = files
    await page.getByRole('button', { name: 'Aktionen für letter.txt' }).click()
    await page.getByRole('menuitem', { name: 'Teilen' }).click()
    const dialog = page.getByRole('dialog', { name: '„letter.txt“ teilen' })
    await dialog.waitFor()
    expect([await pixelsBeside(page), await smallTargets(page)]).toEqual([0, []])
    expect(await faultsInBothColours(page)).toEqual([])
    await deleteFile(host, own.key, own.letter.slug)
    await dialog.getByRole('button', { name: 'Link erstellen' }).click()
    await dialog.getByRole('alert').waitFor()
  })

  test('asks for files into a folder, with limits and an address of its own, which nobody else has', async () => {
    const own = await account()
    await makeLink(host, own.key, { files: [own.letter.uuid], slug: 'wedding' })
    await using files = await openFilesPage(browser(), own, PHONE)
    const { page } = files
    await page.getByRole('button', { name: 'Actions for Photos' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    const dialog = page.getByRole('dialog', { name: 'Share “Photos”' })
    await dialog.getByLabel('Ask for files').check()
    await dialog.getByText('More', { exact: true }).click()
    await dialog.getByLabel('How many files').selectOption('10 files')
    await dialog.getByLabel('Largest file').selectOption('100 MB')
    await dialog.getByLabel('Kinds').selectOption('Pictures')
    await dialog.getByLabel('Title').fill('Our wedding')
    await dialog.getByLabel('Message').fill('Send us your pictures!')
    await dialog.getByLabel('Custom address').fill('weddlng')
    expect([await pixelsBeside(page), await smallTargets(page)]).toEqual([0, []])
    expect(await faultsInBothColours(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await dialog.getByText('This address is taken, or one that looks like it.').waitFor()
    await dialog.getByLabel('Custom address').fill('our-wedding')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await dialog.getByText(/^Available until/).waitFor()

    const { body } = await api(host, own.key, 'GET', '/api/v1/links/our-wedding')
    expect(Object(body).data).toMatchObject({
      name: 'Our wedding',
      message: 'Send us your pictures!',
      uploads: {
        max_files: 10,
        max_file_size: 104_857_600,
        types: ['image/*'],
        fields: { sender: 'required' },
      },
    })
    const asking = await (await visit(host, '/l/our-wedding')).text()
    expect(asking).toContain('Send us your pictures!')
    expect(files.trouble()).toEqual([expect.stringContaining('409 for')])
  })

  test('lists what was shared, with its downloads, and takes it back after it has asked', async () => {
    const own = await account()
    const once = await makeLink(host, own.key, { files: [own.letter.uuid], max_downloads: 1 })
    const link = await makeLink(host, own.key, { files: [own.letter.uuid], name: 'For Ben' })
    const address = (await visit(host, `/l/${once}?download=1`)).headers.get('location') ?? ''
    await (await visit(host, address)).bytes()
    // A download ends a moment after its last byte.
    await eventually('the link has ended', async () => {
      const { body } = await api(host, own.key, 'GET', `/api/v1/links/${once}/log`)
      return Object(body).data.length === 2
    })
    await using files = await openFilesPage(browser(), own)
    const { page } = files
    await files.button('Shared links').click()
    const dialog = page.getByRole('dialog', { name: 'Shared links' })
    const rows = dialog.getByRole('listitem')
    await rows.first().waitFor()
    expect(await rows.allTextContents()).toEqual([
      expect.stringContaining('no time limit · 0 downloads'),
      expect.stringContaining('used up · 1 of 1 download'),
    ])
    await dialog.getByRole('button', { name: 'Copy link: For Ben' }).waitFor()
    const used = dialog.getByRole('button', { name: 'Details: letter.txt' })
    await used.click()
    await dialog.getByText('Downloaded for the first time').waitFor()
    await dialog.locator('bdi', { hasText: /^used up · / }).waitFor()
    await dialog.getByLabel('A new password').check()
    await dialog.getByLabel('New password').last().fill('sesame')
    await dialog.getByLabel('Available for').selectOption('Until a date')
    await dialog.getByLabel('Last day').fill('2099-12-31')
    await dialog.getByText('More', { exact: true }).click()
    await dialog.getByLabel('How many people may download it').fill('3')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await rows.getByText(/^until .*2099.* · 1 of 3 downloads · with a password$/).waitFor()
    await used.click()
    await dialog.getByRole('button', { name: 'Turn off: For Ben' }).focus()
    await files.press('Enter')
    await dialog.getByText('Turn off the link to “For Ben”?').waitFor()
    expect((await visit(host, `/l/${link}`)).status).toBe(200)
    await files.press('Tab', 'Enter')
    await dialog.getByText('turned off').waitFor()
    expect((await visit(host, `/l/${link}`)).status).toBe(404)
    expect(await faultsInBothColours(page)).toEqual([])
    expect(files.trouble()).toEqual([])
  })

  test.each([true, false])(
    'a limited link downloads by its button, with scripts: %p',
    async (javaScriptEnabled) => {
      const own = await account()
      const folder = await makeFolder(host, own.key, { name: `Album ${javaScriptEnabled}` })
      await upload(host, { key: own.key, folder, name: 'one.txt', bytes: textBytes('Number one') })
      const ofFile = await makeLink(host, own.key, { files: [own.letter.uuid], max_downloads: 1 })
      const ofFolder = await makeLink(host, own.key, { folders: [folder], max_downloads: 2 })
      for (const [link, button, name] of [
        [ofFile, 'Download', 'letter.txt'],
        [ofFolder, 'Download: one.txt', 'one.txt'],
        [ofFolder, /^Download all/, /\.zip$/],
      ] as const) {
        await using opened = await openPage(browser(), `${host.url}/l/${link}`, { javaScriptEnabled })
        const { page } = opened
        await page.goto(`${host.url}/l/${link}`)
        const coming = page.waitForEvent('download')
        await page.getByRole('button', { name: button }).click()
        expect((await coming).suggestedFilename()).toMatch(name)
        expect(await (await coming).failure()).toBeNull()
        // The `onclick` of an item is for programs; no browser runs it.
        expect(opened.trouble(javaScriptEnabled && link === ofFolder ? 1 : 0)).toEqual([])
      }
    },
  )

  test('tells who sent what by a link, and changes its terms', async () => {
    const own = await account()
    const folder = await makeFolder(host, own.key, { name: 'Inbox' })
    const uploads = { fields: { sender: 'required' } }
    const link = await makeLink(host, own.key, { folders: [folder], name: 'Send here', uploads })
    const body = textBytes('Dear you')
    const sent = await visit(host, `/l/${link}/answer.txt?sender=Ben`, { method: 'PUT', body })
    expect(sent.status).toBe(200)
    await using files = await openFilesPage(browser(), own, PHONE)
    const { page } = files
    await page.getByRole('button', { name: 'Folders' }).click()
    await files.button('Shared links').click()
    const dialog = page.getByRole('dialog', { name: 'Shared links' })
    await dialog.getByRole('button', { name: 'Details: Send here' }).click()
    await dialog.getByText('answer.txt').waitFor()
    await dialog.getByText(/^Ben · 8 B · /).waitFor()
    await dialog.getByLabel('Available for').selectOption('30 days from now')
    await dialog.getByText('More', { exact: true }).click()
    await dialog.getByLabel('Kinds').selectOption('Documents')
    await dialog.getByLabel('Title').fill('Send it here')
    await dialog.getByLabel('Message').fill('Thank you!')
    expect([await pixelsBeside(page), await smallTargets(page)]).toEqual([0, []])
    expect(await faultsInBothColours(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('button', { name: 'Details: Send it here' }).waitFor()
    const { body: now } = await api(host, own.key, 'GET', `/api/v1/links/${link}`)
    expect(Object(now).data).toMatchObject({
      name: 'Send it here',
      message: 'Thank you!',
      ends_at: expect.any(String),
      uploads: { types: expect.arrayContaining(['.pdf']), fields: { sender: 'required' } },
    })
    expect(files.trouble()).toEqual([])
  })
})
