/** The start page: files are chosen, dropped and pasted, and their links are there at once. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  accessibilityFaults,
  describeInBrowser,
  ignoringClosedPage,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser/browser.ts'
import { goOnAs } from '../support/browser/signed-in-page.ts'
import { chosenFile, fileIn, isAlive, openStartPage, slugOf } from '../support/browser/start-page.ts'
import { chance } from '../support/chance.ts'
import { readBack, sha256 } from '../support/clients/caller.ts'
import { GENEROUS } from '../support/clients/public.ts'
import { signedIn } from '../support/clients/site-visitor.ts'
import { eventually } from '../support/eventually.ts'
import { FOR_CHROMIUM, temporaryFolder } from '../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const MIB = 1024 ** 2
const LIMIT = 100 * MIB

describeInBrowser('the start page', (browser) => {
  let holdfast: TestHoldfast
  const random = chance(30)
  const open = (options = {}) => openStartPage(browser(), holdfast.url, options)
  const stored = (link: string) => readBack(holdfast.url, slugOf(link))
  const whole = (bytes: Uint8Array) => ({ size: bytes.length, sha256: sha256(bytes) })
  beforeAll(async () => {
    holdfast = await startHoldfast({ ...GENEROUS, maxFileSize: LIMIT })
  })
  afterAll(() => holdfast.stop())

  test('gives the link of a file while it goes up, and its page says that it is arriving', async () => {
    await using start = await open()
    const bytes = random.bytes(3 * MIB)
    await start.throttle(MIB)
    await start.choose(chosenFile('film.mkv', bytes))
    const film = start.upload('film.mkv')
    const link = await film.link()
    await film.is('sending')
    const own = await start.transferLink()
    expect(await (await fetch(own, { headers: { accept: 'text/html' } })).text()).toContain('film.mkv')
    expect(await (await fetch(link, { headers: { accept: 'text/html' } })).text()).toContain(
      'still being uploaded',
    )
    await eventually('the title tells how far it is', async () => /^\d+% /.test(await start.page.title()))
    await start.throttle(null)
    await film.is('done')
    expect(await stored(link)).toEqual(whole(bytes))
    await start.page.getByRole('heading', { name: '1 file is safe on the server' }).waitFor()
    expect(await start.transferLink()).toBe(own)
    expect(await start.page.title()).not.toContain('%')
    expect(await start.page.getByRole('status').allTextContents()).toContain('1 file uploaded')
    expect(start.trouble()).toEqual([])
  })

  test('copies the one link of all that was dropped by itself, and shows it as a code', async () => {
    await using start = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = start
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
    // Chromium has no share sheet here.
    await page.addInitScript({ content: 'navigator.share = async (told) => { window.told = told }' })
    await page.goto('/')
    await isAlive(page)
    const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt']
    await start.choose(...names.map((name) => chosenFile(name, Buffer.from(name))))
    for (const name of names) await start.upload(name).is('done')
    const link = await start.transferLink()
    await eventually('the link is copied', async () => (await clipboard()) === link)
    await start.upload('b.txt').press('Copy the link of this file')
    await eventually('that of a file is copied', async () => (await clipboard()).includes('/d/'))
    expect(await stored(await clipboard())).toEqual(whole(Buffer.from('b.txt')))
    await page.getByRole('button', { name: 'Copy link', exact: true }).click()
    await eventually('the link is copied again', async () => (await clipboard()) === link)
    await page.getByRole('button', { name: 'QR code' }).click()
    const code = page.getByRole('img', { name: 'QR code of the link' })
    expect(await code.locator('path').getAttribute('d')).toMatch(/^(M\d+ \d+h1v1h-1z)+$/)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Share' }).click()
    expect(await page.evaluate<unknown>('window.told')).toEqual({ url: link })
    expect(start.trouble()).toEqual([])
  })

  test('takes files and whole folders that are dropped on it', async () => {
    using folder = temporaryFolder(FOR_CHROMIUM)
    await using start = await open()
    await mkdir(join(folder.path, 'album/day one'), { recursive: true })
    const contents = new Map([
      ['letter.txt', random.bytes(1000)],
      ['album/cover.jpg', random.bytes(2000)],
      ['album/day one/beach.jpg', random.bytes(3000)],
    ])
    for (const [path, bytes] of contents) await fileIn(folder.path, path, bytes)
    await mkdir(join(folder.path, 'empty/also empty'), { recursive: true })
    await start.drop([join(folder.path, 'empty')])
    await start.page.getByText('There are no files in what you dropped.').waitFor()
    await start.drop([join(folder.path, 'letter.txt'), join(folder.path, 'album')])
    for (const [path, bytes] of contents) {
      const upload = start.upload(path.slice(path.lastIndexOf('/') + 1))
      await upload.is('done')
      expect(await stored(await upload.link())).toEqual(whole(bytes))
    }
    expect(await start.page.locator('.upload').count()).toBe(contents.size)
    const friend = await browser().newPage()
    await friend.goto(await start.transferLink())
    await friend.locator('.subfolder-item').filter({ hasText: 'album' }).click()
    await friend.locator('.subfolder-item').filter({ hasText: 'day one' }).click()
    await friend.locator('.file-item[data-name="beach.jpg"]').waitFor()
    await friend.close()
    expect(start.trouble()).toEqual([])
  })

  test('makes files of pasted text and pictures', async () => {
    await using start = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
    const text = 'Shopping: milk, bread\nand two more'
    await start.page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await start.page.keyboard.press('Control+V')
    const list = start.upload('Shopping milk, bread.txt')
    await list.is('done')
    expect(await stored(await list.link())).toEqual(whole(Buffer.from(text)))
    await start.page.evaluate(copyPicture)
    await start.page.keyboard.press('Control+V')
    const picture = start.page.locator('.upload[data-state="done"]').getByTitle(/^Pasted picture .*\.png$/)
    await picture.waitFor()

    await start.page.getByRole('button', { name: 'Write a text' }).click()
    await start.page.keyboard.type('print("ahoy")')
    await start.page.getByRole('textbox', { name: /^Name/ }).fill('ahoy.py')
    await start.page.keyboard.press('Control+Enter')
    const typed = start.upload('ahoy.py')
    await typed.is('done')
    expect(await stored(await typed.link())).toEqual(whole(Buffer.from('print("ahoy")')))
    expect(await start.page.getByRole('textbox', { name: 'Text' }).count()).toBe(0)
    expect(start.trouble()).toEqual([])
  })

  test('takes a pasted file as it is, and not the path that is pasted with it', async () => {
    await using start = await open()
    await start.page.evaluate(pasteFile)
    const report = start.upload('report.pdf')
    await report.is('done')
    const link = await report.link()
    expect(await stored(link)).toEqual(whole(Buffer.from('%PDF-1.7')))
    expect((await fetch(`${link}?download=1`)).headers.get('content-type')).toBe('application/pdf')
    expect(await start.page.locator('.upload').count()).toBe(1)
    expect(start.trouble()).toEqual([])
  })

  test('stands still while it is paused, and goes on from there', async () => {
    await using start = await open()
    const bytes = random.bytes(4 * MIB)
    await start.throttle(MIB)
    await start.choose(chosenFile('film.mkv', bytes))
    const film = start.upload('film.mkv')
    await film.passes(30)
    await film.press('Pause')
    await film.is('paused')
    const before = start.requests.length
    await start.throttle(null)
    await film.press('Resume')
    await film.is('done')
    expect(start.requests.slice(before)).toContainEqual(expect.stringMatching(/^PATCH [1-9]/))
    expect(await stored(await film.link())).toEqual(whole(bytes))
  })

  test('can be worked by the keyboard alone', async () => {
    await using start = await open()
    await start.throttle(MIB)
    await start.choose(chosenFile('film.mkv', random.bytes(3 * MIB)))
    const film = start.upload('film.mkv')
    await film.is('sending')
    const press = (key: string) => start.page.keyboard.press(key)
    await film.row.getByRole('button', { name: 'More: film.mkv' }).focus()
    await press('Enter')
    await film.row.getByRole('menuitem', { name: 'Pause' }).and(start.page.locator(':focus')).waitFor()
    await press('Enter')
    await film.is('paused')
    await press('Shift+Tab')
    await press('Enter')
    await film.is('sending')
    await film.row.locator(':focus').waitFor()
    await press('Enter')
    await film.row.getByRole('menuitem', { name: 'Pause' }).and(start.page.locator(':focus')).waitFor()
    await press('ArrowDown')
    await press('Enter')
    await film.is('cancelled')
    await start.throttle(null)
    await film.row.getByRole('button', { name: 'Undo' }).and(start.page.locator(':focus')).waitFor()
    await press('Enter')
    await film.is('done')
    expect(start.trouble()).toEqual([])
  })

  test('leaves nothing of what is cancelled, and lets that be undone for a moment', async () => {
    await using start = await open()
    await start.throttle(MIB)
    const bytes = random.bytes(3 * MIB)
    await start.choose(chosenFile('kept.bin', bytes), chosenFile('gone.bin', random.bytes(3 * MIB)))
    const [kept, gone] = [start.upload('kept.bin'), start.upload('gone.bin')]
    const link = await gone.link()
    for (const upload of [kept, gone]) {
      await upload.passes(10)
      await upload.press('Cancel')
      await upload.is('cancelled')
    }
    await start.page.getByRole('status').getByText('gone.bin: Cancelled').waitFor()
    await kept.press('Undo')
    await start.throttle(null)
    await kept.is('done')
    // Whoever leaves does not want it back.
    const keptLink = await kept.link()
    await start.page.goto('about:blank')
    await eventually('its link leads nowhere', async () => {
      const page = await fetch(link, { headers: { accept: 'text/html' } })
      return page.status === 404 && !(await page.text()).includes('still being uploaded')
    })
    expect(await stored(keptLink)).toEqual(whole(bytes))
    const { rows } = await uploadsUnderWay()
    expect(rows).toBe(0)
  })

  async function uploadsUnderWay() {
    const rows = await holdfast.database
      .selectFrom('uploads')
      .select('slug')
      .where('state', '=', 'uploading')
      .execute()
    return { rows: rows.length }
  }

  test('refuses a file that is too large before a byte is sent', async () => {
    using folder = temporaryFolder()
    await using start = await open()
    await start.choose(await fileIn(folder.path, 'huge.iso', Buffer.alloc(LIMIT + MIB)))
    const huge = start.upload('huge.iso')
    await huge.is('failed')
    expect(await huge.row.textContent()).toContain('This file is 101 MB; the limit is 100 MB.')
    expect(start.requests).toEqual([])
  })

  test('asks before it is left in the middle of an upload, and not after', async () => {
    const context = await browser().newContext({ baseURL: holdfast.url })
    const page = await context.newPage()
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      ignoringClosedPage(dialog.accept())
    })
    await page.goto('/')
    await isAlive(page)
    await page.locator('.brand').press('Tab')
    await page.route('**/api/v1/uploads', () => {})
    await page.locator('.zone-field').setInputFiles(chosenFile('film.mkv', random.bytes(1000)))
    await page.locator('.upload').waitFor()
    await page.close({ runBeforeUnload: true })
    await eventually('it is asked', () => asked.length === 1)
    expect(asked).toEqual(['beforeunload'])
    await context.close()
  })

  test('loses neither a file that was chosen before its script came nor what is pressed before it uploads', async () => {
    const context = await browser().newContext({ baseURL: holdfast.url })
    const page = await context.newPage()
    const [held, uploading] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/assets/*.js', async (route) => {
      await (route.request().url().includes('/uploads-') ? uploading : held).promise
      await route.continue()
    })
    await page.goto('/', { waitUntil: 'commit' })
    const bytes = random.bytes(5000)
    await page.locator('.zone-field').setInputFiles(chosenFile('early.bin', bytes))
    held.resolve()
    await page.getByRole('button', { name: 'More: early.bin' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Cancel' }).press('Enter')
    uploading.resolve()
    await page.locator('.upload[data-state="cancelled"]').waitFor()
    // The focus is still in the row.
    await page.locator('.upload :focus').waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.upload[data-state="done"]').waitFor()
    const link = (await page.locator('.upload-link').getAttribute('href')) ?? ''
    expect(await stored(link)).toEqual(whole(bytes))
    await context.close()
  })

  test('is a plain form where there is no script', async () => {
    const context = await browser().newContext({ baseURL: holdfast.url, javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto('/')
    const bytes = random.bytes(5000)
    const files = [chosenFile('plain.bin', bytes), chosenFile('empty.txt', Buffer.alloc(0))]
    await page.getByLabel('File').setInputFiles(files)
    await page.getByRole('button', { name: 'Upload and get a link' }).click()
    await page.waitForURL('**/l/*')
    expect(await page.locator('.file-item').count()).toBe(2)
    await page.goto('/')
    await page.getByLabel('File').setInputFiles(files.slice(0, 1))
    await page.getByRole('button', { name: 'Upload and get a link' }).click()
    await page.waitForURL('**/l/*')
    const alone = await fetch(`${page.url()}?download=1`)
    expect(sha256(new Uint8Array(await alone.arrayBuffer()))).toBe(sha256(bytes))
    await context.close()
  })

  test.each(['light', 'dark'] as const)('is for everybody, in %s', async (colorScheme) => {
    await using start = await open({ ...PHONE, colorScheme, reducedMotion: 'reduce' })
    expect(await accessibilityFaults(start.page)).toEqual([])
    await start.throttle(MIB / 4)
    await start.choose(
      chosenFile(
        'A name that is much longer than a phone is wide, to the last letter.tar.gz',
        Buffer.from('a'),
      ),
      chosenFile('b.bin', random.bytes(2 * MIB)),
    )
    await start.upload('b.bin').is('sending')
    // The code has white behind it, which the tool takes for that of the rows below.
    for (const opener of ['Password', 'Expiry', 'Message', 'Delete']) {
      await start.page.getByRole('button', { name: opener, exact: true }).tap()
      await start.page.locator('.popover:popover-open').waitFor()
      expect(await accessibilityFaults(start.page)).toEqual([])
      expect([opener, await pixelsBeside(start.page)]).toEqual([opener, 0])
      expect([opener, await smallTargets(start.page)]).toEqual([opener, []])
      await start.page.keyboard.press('Escape')
    }
    await start.upload('b.bin').press('Cancel')
    expect(start.trouble()).toEqual([])
  })

  test('leads to signing in where guests may not upload', async () => {
    const closed = await startHoldfast({ guestUploads: false })
    const context = await browser().newContext({ baseURL: closed.url })
    const page = await context.newPage()
    await page.goto('/')
    expect(await page.getByRole('heading').textContent()).toBe('Sign in to upload')
    expect(await page.locator('.zone').count()).toBe(0)
    expect(await smallTargets(page)).toEqual([])
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await page.waitForURL(`${closed.url}/sign-in?next=%2F`)
    await closed.addAccount('member')
    await goOnAs(page, closed.url, await signedIn(closed, 'member'))
    await page.goto('/')
    await page.locator('.zone').waitFor()
    await context.close()
    await closed.stop()
  })
})

/** Runs in the page. */
const copyPicture = `new Promise((resolve) => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 8, height: 8 })
  canvas.toBlob((picture) => resolve(navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })])))
})`

/** Runs in the page: as a file manager's clipboard is pasted. */
const pasteFile = `(() => {
  const clipboardData = new DataTransfer()
  clipboardData.items.add(new File(['%PDF-1.7'], 'report.pdf', { type: 'application/pdf' }))
  clipboardData.setData('text/plain', '/home/ana/report.pdf')
  document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
})()`
