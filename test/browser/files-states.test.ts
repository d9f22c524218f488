/** What the file manager shows where there is no list, and in its dialogs. */
// Only in test:all: files.test.ts works on the same page.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { markDamaged } from '../../src/core/damage.rows.ts'
import {
  describeInBrowser,
  faultsInBothColours,
  PHONE,
  pixelsBeside,
  readElements,
} from '../support/browser/browser.ts'
import { type FilesOwner, filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import { chosenFile } from '../support/browser/start-page.ts'
import { api } from '../support/clients/api.ts'
import { intoBin } from '../support/clients/bin.ts'
import { GENEROUS, makeFolder, textBytes, upload } from '../support/clients/public.ts'
import { PASSWORD, signedIn } from '../support/clients/site-visitor.ts'
import { tus } from '../support/clients/tus.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { contentOf } from '../support/storage/stored-contents.ts'

describeInBrowser('the file manager', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
  })
  afterAll(() => host.stop())

  /** Somebody with the folder Alpha and the file one.txt in it. */
  async function owner(): Promise<FilesOwner & { alpha: string }> {
    const one = await filesOwner(host)
    const alpha = await makeFolder(host, one.key, { name: 'Alpha' })
    await upload(host, { key: one.key, name: 'one.txt', folder: alpha })
    return { ...one, alpha }
  }

  async function expectNoFaults(page: Page, where: string): Promise<void> {
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect({ where, faults: await faultsInBothColours(page) }).toEqual({ where, faults: [] })
  }

  test('marks a damaged file, and its details and its page say what helps', async () => {
    const own = await filesOwner(host)
    const { slug } = await upload(host, {
      key: own.key,
      name: 'one.txt',
      bytes: textBytes(crypto.randomUUID()),
    })
    await markDamaged(host.database, await contentOf(host, slug), 'hash', 1)
    await using files = await openFilesPage(browser(), own)
    const { page } = files
    await files.lists('one.txt')
    await files.row('one.txt').getByTitle('Damaged').waitFor()
    await files.row('one.txt').click()
    await page.route('**/api/v1/file/*', (route) => route.abort('connectionreset'))
    await files.press('Enter')
    await page.getByRole('note').getByText('Upload the same file again').waitFor()
    await page.getByRole('alert').getByText('The server cannot be reached').waitFor()
    await page.unroute('**/api/v1/file/*')
    // The page may have tried again by itself, and taken the button away.
    const tried = files.button('Try again now').click()
    tried.catch(() => {})
    await Promise.race([tried, page.getByRole('alert').waitFor({ state: 'hidden' })])
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await expectNoFaults(page, 'a damaged file')
    await page.goto(`/d/${slug}`)
    await page.getByRole('alert').getByText('Upload the same file again').waitFor()
    await expectNoFaults(page, 'the page of a damaged file')
    expect(files.trouble()).toEqual([])
  }, 120_000)

  test('says that a folder is not there, and finds it when it is back', async () => {
    const own = await owner()
    await using files = await openFilesPage(browser(), own, { path: '/files/aaaaaaaaaaaaaaaa' })
    const { page } = files
    const missing = page.getByRole('heading', { name: 'This folder is not here' })
    await missing.waitFor()
    await expectNoFaults(page, 'a bad address')
    await files.button('Show all files').click()
    await files.lists('Alpha')
    expect(new URL(page.url()).pathname).toBe('/files')

    await files.row('Alpha').dblclick()
    await files.lists('one.txt')
    const program = api(host, own.key)
    const [entry] = await intoBin(program, { folders: [own.alpha] })
    await missing.waitFor()
    await page.getByRole('treeitem', { name: 'Alpha' }).waitFor({ state: 'detached' })
    expect(await program.post('/api/v1/bin/restore', { entries: [entry] })).toMatchObject({ status: 200 })
    await files.lists('one.txt')
    await page.getByRole('treeitem', { name: 'Alpha' }).waitFor()
  })

  test('says that its session has ended elsewhere, and goes on where it was after signing in', async () => {
    const own = await owner()
    await using files = await openFilesPage(browser(), own, { path: `/files/${own.alpha}` })
    const { page } = files
    await files.lists('one.txt')
    // A new password ends what was begun with the old one.
    await signedIn(host, own.username)
    await upload(host, { key: own.key, name: 'two.txt', folder: own.alpha })
    await page.getByRole('searchbox').fill('two')
    await page.getByRole('heading', { name: 'You have been signed out' }).waitFor()
    await expectNoFaults(page, 'signed out')
    await page.getByRole('link', { name: 'Sign in' }).last().click()
    await page.getByLabel('User name').fill(own.username)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await files.lists('one.txt', 'two.txt')
    expect(new URL(page.url()).pathname).toBe(`/files/${own.alpha}`)
  })

  test('keeps what it shows after signing out in another window, uploads nothing as a guest, and goes on', async () => {
    const own = await owner()
    await using files = await openFilesPage(browser(), own)
    const { page } = files
    await files.lists('Alpha')
    const cookies = await page.context().cookies()
    await page.context().clearCookies()
    await page
      .locator('.upload-field')
      .first()
      .setInputFiles(chosenFile('note.txt', textBytes('mine')))
    await files.uploads().getByText('You have been signed out').waitFor()
    await files.row('Alpha').click()
    await files.press('Delete')
    await files.says('0 of 1 are done for certain; the rest continues once you have signed in.')
    await files.button('New folder').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Beta')
    await files.press('Enter')
    await dialog.getByRole('alert').getByText('You have been signed out').waitFor()
    expect(await dialog.getByRole('link', { name: 'Sign in' }).getAttribute('target')).toBe('_blank')
    expect(await page.getByText('cannot be reached').count()).toBe(0)

    await page.context().addCookies(cookies)
    await files.press('Enter')
    await files.lists('Beta')
    await files.uploads().click()
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await dialog.getByText('safe on the server').waitFor()
    expect(await own.api.files()).toMatchObject([{ name: 'note.txt', folder: 'root' }])
  })

  test('is whole on a phone: what is found, what cannot be reached, and uploads that were begun elsewhere', async () => {
    const own = await owner()
    const name = 'minutes of the meeting of the harbour committee about the western breakwater.txt'
    await upload(host, { key: own.key, name, folder: own.alpha })
    await tus(api(host, own.key)).start(1000, { filename: name, folder: own.alpha })
    await using files = await openFilesPage(browser(), own, PHONE)
    const { page } = files
    const cut = async (selector: string) =>
      await readElements(
        page,
        selector,
        'it.scrollWidth > it.clientWidth || it.scrollHeight > it.clientHeight',
        z.boolean(),
      )
    await files.uploads().click()
    await files.button(`Discard: ${name}`).waitFor()
    expect(await readElements(page, 'dialog', 'it.scrollWidth - it.clientWidth', z.number())).toEqual([0])
    await files.press('Escape')
    await page.getByRole('searchbox').fill('minutes')
    await files.lists(name)
    await files.row(name).getByText('Alpha').waitFor()
    expect(await cut('.line[data-row]')).toEqual([false])
    await page.route('**/api/v1/**', (route) => route.abort('connectionreset'))
    await page.getByRole('searchbox').fill('breakwater')
    await page.getByRole('heading', { name: 'The server cannot be reached' }).waitFor()
    expect(await pixelsBeside(page)).toBe(0)
    expect(await readElements(page, '.selection-bar', 'it.scrollWidth - it.clientWidth', z.number())).toEqual(
      [0],
    )
    expect(files.trouble()).toEqual([])
  })

  test('has no fault in its dialogs and empty places, in light and in dark', async () => {
    const own = await filesOwner(host)
    await using files = await openFilesPage(browser(), own)
    const { page } = files
    await page.getByText('Nothing here yet').waitFor()
    await expectNoFaults(page, 'an empty place')
    await page.getByRole('searchbox').fill('nothing')
    await page.getByText('Nothing found').waitFor()
    await expectNoFaults(page, 'nothing found')
    await page.getByRole('searchbox').fill('')

    const dialog = page.getByRole('dialog')
    const look = async (where: string) => {
      await dialog.waitFor()
      await expectNoFaults(page, where)
      await dialog.getByRole('button', { name: 'Close' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await files.uploads().click()
    await page.getByText('Nothing is being uploaded.').waitFor()
    await look('no uploads')
    await files.button('Bin').click()
    await page.getByText('What you delete stays here').waitFor()
    await look('an empty bin')

    await makeFolder(host, own.key, { name: 'Alpha' })
    await upload(host, { key: own.key, name: 'one.txt' })
    await files.lists('Alpha', 'one.txt')
    await files.button('New folder').click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Alpha')
    await files.press('Enter')
    await page.getByText('Something with this name is already there.').waitFor()
    await look('a name that is taken')
    await files.row('one.txt').click()
    await files.press('F2')
    await look('renaming')
    await files.row('Alpha').click()
    await files.button('Who can see it').click()
    await page.getByLabel('A new password').check()
    await look('who may see it')

    await files.row('one.txt').click()
    await files.press('Delete')
    await files.lists('Alpha')
    await files.button('Bin').click()
    await files.button('Restore: one.txt').waitFor()
    await files.button('Empty bin').click()
    await files.button('Delete everything for good').waitFor()
    await look('a bin')

    await page.setInputFiles('.upload-field', {
      name: 'two.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('two'),
    })
    await files.lists('Alpha', 'two.txt')
    await files.uploads().click()
    await page.locator('.upload[data-state="done"]').waitFor()
    await look('an upload that is done')

    await page.route('**/api/v1/**', (route) => route.abort('connectionreset'))
    await page.getByRole('treeitem', { name: 'Alpha' }).click()
    await page.getByRole('heading', { name: 'The server cannot be reached' }).waitFor()
    await expectNoFaults(page, 'no network')
    await page.unroute('**/api/v1/**')
    await files.button('Try again').click()
    await page.getByText('Nothing here yet').waitFor()
    // The name that was taken.
    expect(files.trouble()).toEqual([expect.stringMatching(/^409 for .*\/api\/v1\/folder$/)])
  }, 120_000)
})
