/** The file manager: an account's files and folders, moved, renamed, shared and deleted as on one's own computer. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Slug } from '../../src/domain/ids.ts'
import {
  describeInBrowser,
  faultsInBothColours,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser/browser.ts'
import { filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import { dropAt } from '../support/browser/start-page.ts'
import { GENEROUS, makeFolder, textBytes, upload } from '../support/clients/public.ts'
import { PNG } from '../support/contents/picture.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

describeInBrowser('the file manager', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
  })
  afterAll(() => host.stop())

  /** An account with the folders Alpha and Beta and the files one.txt, two.txt and three.png. */
  async function account() {
    const owner = await filesOwner(host)
    const { key } = owner
    const alpha = await makeFolder(host, key, { name: 'Alpha' })
    const beta = await makeFolder(host, key, { name: 'Beta' })
    for (const name of ['one.txt', 'two.txt']) await upload(host, { key, name, bytes: textBytes(name) })
    await upload(host, { key, name: 'three.png', bytes: PNG })
    return { ...owner, alpha, beta }
  }
  const ALL = ['Alpha', 'Beta', 'one.txt', 'three.png', 'two.txt']

  test('is worked by the keyboard alone', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own)
    const focused = () => files.page.locator('[data-row]:focus .name').textContent()
    await files.lists(...ALL)
    await files.row('Alpha').focus()
    await files.press('ArrowDown', 'ArrowDown', 'F2')
    const name = files.page.getByRole('textbox', { name: 'Name' })
    await name.waitFor()
    // All but the ending is selected.
    await files.page.keyboard.type('first')
    await files.press('Enter')
    await files.lists('Alpha', 'Beta', 'first.txt', 'three.png', 'two.txt')
    expect(await focused()).toBe('first.txt')

    await files.press('Shift+ArrowDown', 'Shift+F10')
    await files.page.getByRole('menu').waitFor()
    await files.press('Escape')
    expect(await focused()).toBe('three.png')
    expect(await files.page.locator('[aria-selected="true"][data-row]').count()).toBe(2)
    await files.press('Delete')
    await files.lists('Alpha', 'Beta', 'two.txt')
    await files.says('2 items moved to the bin')
    expect(await focused()).toBe('two.txt')
    await files.press('Control+z')
    await files.lists('Alpha', 'Beta', 'first.txt', 'three.png', 'two.txt')

    await files.button('Name').focus()
    await files.press('Enter')
    await files.lists('Beta', 'Alpha', 'two.txt', 'three.png', 'first.txt')
    await files.press('Enter')
    await files.lists('Alpha', 'Beta', 'first.txt', 'three.png', 'two.txt')
    await files.row('Alpha').focus()
    await files.press('Control+a')
    expect(await files.page.locator('[aria-selected="true"][data-row]').count()).toBe(5)
    await files.press('Escape')
    expect(await files.page.locator('[aria-selected="true"][data-row]').count()).toBe(0)
    await files.press('Home', 'Enter')
    await files.page.getByText('Nothing here yet').waitFor()
    expect(files.page.url()).toEndWith(`/files/${own.alpha}`)
    await files.press('Alt+ArrowUp')
    await files.lists('Alpha', 'Beta', 'first.txt', 'three.png', 'two.txt')
    expect(await focused()).toBe('Alpha')
    await files.page.goBack()
    await files.page.getByText('Nothing here yet').waitFor()
    expect(files.trouble()).toEqual([])
  })

  test('moves by dragging, uploads what is dropped on a folder, and takes a move back', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own)
    await files.row('one.txt').click()
    await files.row('two.txt').click({ modifiers: ['Control'] })
    await files.row('one.txt').dragTo(files.row('Beta'))
    await files.lists('Alpha', 'Beta', 'three.png')
    await files.says('2 items moved to Beta')
    await files.button('Undo').click()
    await files.lists(...ALL)
    await files.row('Alpha').dragTo(files.page.getByRole('treeitem', { name: 'Beta' }))
    await files.lists('Beta', 'one.txt', 'three.png', 'two.txt')

    using folder = temporaryFolder()
    const path = join(folder.path, 'letter.txt')
    await Bun.write(path, 'Dear all')
    const box = await files.row('Beta').boundingBox()
    const at = { x: (box?.x ?? 0) + 50, y: (box?.y ?? 0) + 20 }
    await dropAt(await files.page.context().newCDPSession(files.page), at, [path])
    await files.row('Beta').dblclick()
    await files.lists('Alpha', 'letter.txt')
    expect((await own.api.files()).find(({ name }) => name === 'letter.txt')).toMatchObject({
      folder: own.beta,
    })
    expect(files.trouble()).toEqual([])
  })

  test('loses nothing when the network breaks during a move, and goes on by itself or is taken back', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own)
    const { page } = files
    const places = async () => (await own.api.files()).map(({ name, folder }) => `${name} ${folder}`).sort()
    const before = await places()
    await files.row('one.txt').click()
    await files.row('two.txt').click({ modifiers: ['Shift'] })
    let network: 'loses answers' | 'loses requests' | 'works' = 'loses answers'
    await page.route('**/api/v1/{files/move,bin}', async (route) => {
      if (network === 'works') return route.continue()
      if (network === 'loses answers') await route.fetch()
      await route.abort('connectionreset')
    })
    await files.row('one.txt').dragTo(files.row('Beta'))
    await files.says('The server cannot be reached. 0 of 3 are done for certain')
    network = 'works'
    await files.button('Undo').click()
    await files.says('3 items moved back')
    expect(await places()).toEqual(before)

    network = 'loses requests'
    await files.lists(...ALL)
    await files.row('one.txt').click()
    await files.row('two.txt').click({ modifiers: ['Shift'] })
    await files.row('one.txt').dragTo(files.row('Alpha'))
    await files.says('The server cannot be reached. 0 of 3 are done for certain')
    network = 'works'
    await files.says('3 items moved to Alpha')
    await files.lists('Alpha', 'Beta')
    expect((await own.api.files()).every(({ folder }) => folder === own.alpha)).toBe(true)

    network = 'loses answers'
    await files.row('Alpha').click()
    await files.press('Delete')
    await files.says('The server cannot be reached. 0 of 1 are done for certain')
    network = 'works'
    await files.says('1 item moved to the bin')
    await files.lists('Beta')
    await files.press('Control+z')
    await files.says('1 item restored')
    await files.lists('Alpha', 'Beta')
    expect((await own.api.files()).every(({ folder }) => folder === own.alpha)).toBe(true)
    expect(files.trouble()).toEqual([])
  })

  test('finds while one types, sorts, and makes, protects, moves and shares by its dialogs', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own, {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const { page } = files
    await page.getByRole('searchbox').fill('T.txt')
    await page.getByText('Nothing found').waitFor()
    await page.getByRole('searchbox').fill('TXT')
    await files.lists('one.txt', 'two.txt')
    await page.getByRole('searchbox').fill('')
    await files.lists(...ALL)
    await files.button('Name').click()
    await files.lists('Beta', 'Alpha', 'two.txt', 'three.png', 'one.txt')

    await files.button('New folder').click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Beta')
    await page.keyboard.press('Enter')
    await page.getByText('Something with this name is already there.').waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('Gamma')
    await page.keyboard.press('Enter')
    await files.row('Gamma').waitFor()

    await files.row('Gamma').click()
    await files.button('Who can see it').click()
    await page.getByLabel('Anyone with the link can see it').uncheck()
    await page.getByLabel('A new password').check()
    await page.getByLabel('New password').last().fill('sesame')
    await files.button('Save').click()
    await files.row('Gamma').getByText('With a password').waitFor({ state: 'attached' })
    await files.row('Gamma').getByText('Private').waitFor({ state: 'attached' })

    await files.row('three.png').click()
    await files.button('Copy link').click()
    const [file] = (await own.api.files()).filter(({ name }) => name === 'three.png')
    await eventually('the link is copied', async () =>
      (await page.evaluate<string>('navigator.clipboard.readText()')).endsWith(`/d/${file?.slug}`),
    )
    await files.button('Details').click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByText('Views').waitFor()
    await details.getByRole('img').or(details.locator('img')).first().waitFor()
    // Its owner has looked at it, which keeps it and counts no view.
    await eventually('the look is written', async () => {
      const rows = host.database.selectFrom('files').select(['views', 'created_at', 'last_used_at'])
      const row = await rows.where('slug', '=', file?.slug as Slug).executeTakeFirstOrThrow()
      expect(row.views).toBe(0)
      return row.last_used_at > row.created_at
    })
    await page.getByRole('complementary').getByRole('button', { name: 'Close' }).click()
    await files.button('Move to …').click()
    await page.getByRole('dialog').getByRole('treeitem', { name: 'Gamma' }).click()
    await files.button('Move here').click()
    await files.lists('Gamma', 'Beta', 'Alpha', 'two.txt', 'one.txt')

    await page.locator('[data-row]').first().click()
    await page.keyboard.press('Control+a')
    const downloads: string[] = []
    page.on('download', (download) => downloads.push(download.suggestedFilename()))
    await files.row('two.txt').click()
    await files.row('Gamma').click({ modifiers: ['Control'] })
    await files.button('Download as ZIP').click()
    await eventually('one zip comes', () => Bun.deepEquals(downloads, ['files.zip']))
    // The name that is taken.
    expect(files.trouble()).toEqual([expect.stringMatching(/^409 for .*\/api\/v1\/folder$/)])
  })

  test('renames a folder by its key and by its menu', async () => {
    const own = await account()
    await using files = await openFilesPage(browser(), own)
    const { page } = files
    const name = page.getByRole('textbox', { name: 'Name' })
    const renamed = ['Beta', 'Zeta v1.2', 'one.txt', 'three.png', 'two.txt']
    // The list has the new name before the dialog is answered, and closes.
    await page.route('**/api/v1/folder/*', async (route) => {
      const response = await route.fetch()
      if (response.ok()) await files.lists(...renamed)
      await route.fulfill({ response })
    })
    await files.row('Alpha').click()
    await files.press('F2')
    await name.waitFor()
    await page.keyboard.type('Zeta v1.2')
    await files.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByRole('treeitem', { name: 'Zeta v1.2' }).waitFor()
    await page.locator('[data-row="1"]:focus').waitFor()

    await files.row('Zeta v1.2').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByText('Rename “Zeta v1.2”').waitFor()
    // A folder has no ending: all of its name is selected.
    await page.keyboard.type('Beta')
    await files.press('Enter')
    await page.getByText('Something with this name is already there.').waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Gamma')
    await files.press('Enter')
    await files.lists('Beta', 'Gamma', 'one.txt', 'three.png', 'two.txt')
    expect(await own.api.folders()).toContainEqual(expect.objectContaining({ id: own.alpha, name: 'Gamma' }))
    expect(files.trouble()).toEqual([expect.stringMatching(/^409 for .*\/api\/v1\/folder\//)])
  })

  test('selects with a finger: by resting on an entry, and by its menu', async () => {
    const own = await account()
    await using phone = await openFilesPage(browser(), own, PHONE)
    const { page } = phone
    const selected = page.locator('[aria-selected="true"][data-row]')
    const names = () => selected.locator('.name').allTextContents()
    const devtools = await page.context().newCDPSession(page)
    const rest = async (name: string) => {
      const count = await selected.count()
      const box = await phone.row(name).boundingBox()
      const point = { x: (box?.x ?? 0) + 120, y: (box?.y ?? 0) + 20 }
      await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [point] })
      await eventually('it is selected', async () => (await selected.count()) > count)
      await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    }
    await phone.lists(...ALL)
    await rest('one.txt')
    expect(await names()).toEqual(['one.txt'])
    expect(await page.getByRole('menu').count()).toBe(0)
    // From now on a tap selects, a folder too, and selects no longer.
    await phone.row('Beta').tap()
    await phone.row('two.txt').tap()
    await page.getByText('3 selected').waitFor()
    await phone.row('one.txt').tap()
    expect(await names()).toEqual(['Beta', 'two.txt'])
    await rest('three.png')
    await page.getByText('3 selected').waitFor()
    await phone.button('Delete').tap()
    await phone.lists('Alpha', 'one.txt')

    await phone.button('Actions for one.txt').tap()
    await page.getByRole('menuitem', { name: 'Select', exact: true }).tap()
    await phone.row('Alpha').tap()
    expect(await names()).toEqual(['Alpha', 'one.txt'])
    await phone.button('Clear selection').tap()
    const isClear = async () => (await names()).length === 0 && (await page.getByRole('menu').count()) === 0
    await eventually('nothing is selected', isClear)
    // A menu that is left has selected nothing: a tap opens.
    await phone.button('Actions for one.txt').tap()
    await page.getByRole('menu').waitFor()
    await phone.press('Escape')
    await eventually('nothing is selected again', isClear)
    await phone.row('Alpha').tap()
    await page.getByText('Nothing here yet').waitFor()
    expect(phone.trouble()).toEqual([])
  })

  test('shows what another window has changed, and brings back what is in the bin', async () => {
    const own = await account()
    await using here = await openFilesPage(browser(), own)
    await using there = await openFilesPage(browser(), own)
    await here.lists(...ALL)
    await there.row('two.txt').click()
    await there.press('Delete')
    await here.lists('Alpha', 'Beta', 'one.txt', 'three.png')
    await upload(host, { key: own.key, name: 'four.txt' })
    await there.lists('Alpha', 'Beta', 'four.txt', 'one.txt', 'three.png')
    await here.button('Bin').click()
    await here.button('Restore: two.txt').click()
    await there.lists('Alpha', 'Beta', 'four.txt', 'one.txt', 'three.png', 'two.txt')
    expect([...here.trouble(), ...there.trouble()]).toEqual([])
  })

  test('is for everybody, on a desktop and on a phone', async () => {
    const own = await account()
    const look = { reducedMotion: 'reduce' } as const
    await using files = await openFilesPage(browser(), own, look)
    await files.row('three.png').click()
    await files.press('Enter')
    await files.page.getByText('Views').waitFor()
    expect(await faultsInBothColours(files.page)).toEqual([])
    await files.button('View: Tiles').click()
    await files.row('one.txt').click({ button: 'right' })
    expect(await faultsInBothColours(files.page)).toEqual([])

    await using phone = await openFilesPage(browser(), own, { ...PHONE, ...look })
    expect(await faultsInBothColours(phone.page)).toEqual([])
    expect(await pixelsBeside(phone.page)).toBe(0)
    expect(await smallTargets(phone.page)).toEqual([])
    await phone.button('Actions for one.txt').tap()
    await phone.page.getByRole('menuitem', { name: 'Move to …' }).tap()
    expect(await faultsInBothColours(phone.page)).toEqual([])
    expect(await smallTargets(phone.page)).toEqual([])
    await phone.page.getByRole('treeitem', { name: 'Alpha' }).tap()
    await phone.button('Move here').tap()
    await phone.lists('Alpha', 'Beta', 'three.png', 'two.txt')
    await phone.row('Alpha').tap()
    await phone.lists('one.txt')
    // A finger opens, and does so again.
    const details = phone.page.getByRole('complementary', { name: 'Details' })
    for (const _ of [1, 2]) {
      await phone.row('one.txt').tap()
      await details.getByText('Technical details').waitFor()
      expect(await smallTargets(phone.page)).toEqual([])
      await details.getByRole('button', { name: 'Close' }).tap()
      await details.waitFor({ state: 'detached' })
    }
    expect([...files.trouble(), ...phone.trouble()]).toEqual([])
  })
})
