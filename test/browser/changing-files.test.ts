/** Files that change while pages send them, and files that look like others: none is stored as a mixture. */
// Only in test:all: large files in a browser; resuming.test.ts has the rule of the client.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { open, utimes } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describeInBrowser } from '../support/browser/browser.ts'
import { filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import {
  fileIn,
  openStartPage,
  type StartPage,
  slugOf,
  throttle,
  uploadIn,
} from '../support/browser/start-page.ts'
import { chance } from '../support/chance.ts'
import { api } from '../support/clients/api.ts'
import { readBack, sha256 } from '../support/clients/caller.ts'
import { GENEROUS } from '../support/clients/public.ts'
import { tus } from '../support/clients/tus.ts'
import { startInParts } from '../support/clients/tus-parts.ts'
import { eventually } from '../support/eventually.ts'
import { FOR_CHROMIUM, temporaryFolder } from '../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const MIB = 1024 ** 2
/** More than is read into memory at once, and more than goes in one request. */
const LARGE = 66 * MIB
/** The date that files have until they are changed: browsers compare dates to the second. */
const BEFORE = 1_700_000_000

describeInBrowser('a file that changes', (browser) => {
  let holdfast: TestHoldfast
  const random = chance(77)
  const stored = (link: string) => readBack(new URL(link).origin, slugOf(link))
  const whole = (bytes: Uint8Array) => ({ size: bytes.length, sha256: sha256(bytes) })
  beforeAll(async () => {
    holdfast = await startHoldfast(GENEROUS)
  })
  afterAll(() => holdfast.stop())

  async function oldFile(folder: string, name: string, bytes: Uint8Array): Promise<string> {
    const path = await fileIn(folder, name, bytes)
    await utimes(path, BEFORE, BEFORE)
    return path
  }

  /** Other bytes in the same file, which stays the same one for whoever has it open. */
  async function overwrite(path: string, bytes: Uint8Array, at = 0): Promise<void> {
    const file = await open(path, 'r+')
    await file.write(bytes, 0, bytes.length, at)
    await file.close()
  }

  async function isGone(start: StartPage, link: string): Promise<void> {
    await eventually('the server has nothing of it', async () => (await fetch(link)).status === 404)
    expect(await start.upload('film.mkv').row.textContent()).toContain('was changed or moved while')
  }

  describe('a check at the beginning stands for the whole:', () => {
    test('overwritten in place while it is sent, a large file is stored neither as a mixture nor at all', async () => {
      using folder = temporaryFolder(FOR_CHROMIUM)
      await using start = await openStartPage(browser(), holdfast.url)
      // As one request.
      const path = await oldFile(folder.path, 'film.mkv', random.bytes(60 * MIB))
      await start.throttle(24 * MIB)
      await start.choose(path)
      const film = start.upload('film.mkv')
      const link = await film.link()
      await film.passes(10)
      await overwrite(path, random.bytes(60 * MIB))
      await start.throttle(null)
      await film.is('failed')
      await isGone(start, link)
    })

    test('overwritten in its last bytes while it is sent, a file is not stored', async () => {
      using folder = temporaryFolder(FOR_CHROMIUM)
      await using start = await openStartPage(browser(), holdfast.url)
      const path = await oldFile(folder.path, 'film.mkv', random.bytes(12 * MIB))
      await start.throttle(4 * MIB)
      await start.choose(path)
      const film = start.upload('film.mkv')
      const link = await film.link()
      await film.passes(10)
      await overwrite(path, random.bytes(100), 12 * MIB - 100)
      await start.throttle(null)
      await film.is('failed')
      await isGone(start, link)
    })

    test('overwritten in place while it is sent, a small file is stored as it was', async () => {
      using folder = temporaryFolder(FOR_CHROMIUM)
      await using start = await openStartPage(browser(), holdfast.url)
      const bytes = random.bytes(6 * MIB)
      const path = await oldFile(folder.path, 'film.mkv', bytes)
      await start.throttle(2 * MIB)
      await start.choose(path)
      const film = start.upload('film.mkv')
      const link = await film.link()
      await film.passes(10)
      await overwrite(path, random.bytes(6 * MIB))
      await start.throttle(null)
      await film.is('done')
      expect(await stored(link)).toEqual(whole(bytes))
    })

    test('made longer, shorter, or removed while it is sent, a file is not stored', async () => {
      for (const change of ['longer', 'shorter', 'gone'] as const) {
        using folder = temporaryFolder(FOR_CHROMIUM)
        await using start = await openStartPage(browser(), holdfast.url)
        const path = await oldFile(folder.path, 'film.mkv', random.bytes(12 * MIB))
        await start.throttle(4 * MIB)
        await start.choose(path)
        const film = start.upload('film.mkv')
        const link = await film.link()
        await film.passes(10)
        const file = await open(path, 'r+')
        if (change === 'gone') await Bun.file(path).delete()
        else if (change === 'shorter') await file.truncate(11 * MIB)
        else await file.write(random.bytes(10), 0, 10, 12 * MIB)
        await file.close()
        await start.throttle(null)
        await film.is('failed')
        await isGone(start, link)
      }
    })

    test('overwritten while partial uploads of it are sent, a file is not stored', async () => {
      using folder = temporaryFolder(FOR_CHROMIUM)
      const owner = await filesOwner(holdfast)
      const bytes = random.bytes(12 * MIB)
      const path = await oldFile(folder.path, 'film.mkv', bytes)
      await startInParts(tus(api(holdfast, owner.key)), bytes.length, 4 * MIB)
      await using files = await openFilesPage(browser(), owner)
      const { page } = files
      await files.uploads().click()
      const devtools = await page.context().newCDPSession(page)
      await throttle(devtools, 4 * MIB)
      await page.locator('[data-again="film.mkv"]').last().setInputFiles(path)
      const film = uploadIn(page, 'film.mkv')
      await film.passes(50)
      await overwrite(path, random.bytes(12 * MIB))
      await throttle(devtools, null)
      await film.is('failed')
      expect(await owner.api.files()).toEqual([])
    })

    test('overwritten while the file manager sends it, a file is not stored', async () => {
      using folder = temporaryFolder(FOR_CHROMIUM)
      const owner = await filesOwner(holdfast)
      await using files = await openFilesPage(browser(), owner)
      const { page } = files
      const path = await oldFile(folder.path, 'film.mkv', random.bytes(12 * MIB))
      const devtools = await page.context().newCDPSession(page)
      await throttle(devtools, 4 * MIB)
      await page.locator('input[type="file"]').first().setInputFiles(path)
      await files.uploads().click()
      const film = uploadIn(page, 'film.mkv')
      await film.passes(10)
      await overwrite(path, random.bytes(12 * MIB))
      await throttle(devtools, null)
      await film.is('failed')
      expect(await owner.api.files()).toEqual([])
      await eventually(
        'nothing is left of it',
        async () => JSON.stringify(await owner.api.get('/api/v1/uploads')) === '{"success":true,"data":[]}',
      )
    })
  })

  describe('likeness taken for identity:', () => {
    /** An upload that a reload has interrupted, of a file that the browser keeps no copy of, and another file like it. */
    async function interrupted(start: StartPage, folder: string) {
      const bytes = random.bytes(LARGE)
      const path = await oldFile(folder, 'film.mkv', bytes)
      await start.throttle(12 * MIB)
      await start.choose(path)
      const film = start.upload('film.mkv')
      const link = await film.link()
      await film.passes(20)
      await eventually('that is kept', async () => (await start.kept()).includes(link))
      await start.page.goto('about:blank')
      await start.page.goto('/')
      await film.is('interrupted')
      await start.throttle(null)
      const otherBytes = random.bytes(LARGE)
      await overwrite(path, otherBytes)
      await utimes(path, BEFORE, BEFORE)
      return { path, bytes, otherBytes, film, link }
    }

    test('an interrupted upload does not go on with another file of the same name, size and date', async () => {
      using folder = temporaryFolder(FOR_CHROMIUM)
      await using start = await openStartPage(browser(), holdfast.url)
      const { path, bytes, film, link } = await interrupted(start, folder.path)
      const field = film.row.locator('input[type="file"]')
      await field.setInputFiles(path)
      await film.row.getByText('This “film.mkv” was changed after the upload began.').waitFor()
      await film.is('interrupted')
      await overwrite(path, bytes)
      await utimes(path, BEFORE, BEFORE)
      await field.setInputFiles(path)
      await film.is('done')
      expect(await film.link()).toBe(link)
      expect(await stored(link)).toEqual(whole(bytes))
    }, 120_000)

    test('another file of the same name, size and date is uploaded by itself, and the interrupted one waits on', async () => {
      using folder = temporaryFolder(FOR_CHROMIUM)
      await using start = await openStartPage(browser(), holdfast.url)
      const { path, bytes, otherBytes, link } = await interrupted(start, folder.path)
      await start.choose(path)
      const rows = start.page.locator('.upload')
      const done = start.page.locator('.upload[data-state="done"]')
      await done.waitFor()
      expect(await rows.count()).toBe(2)
      const otherLink = (await done.locator('.upload-link').getAttribute('href')) ?? ''
      expect(otherLink).not.toBe(link)
      expect(await stored(otherLink)).toEqual(whole(otherBytes))
      await overwrite(path, bytes)
      await utimes(path, BEFORE, BEFORE)
      await start.page.locator('.upload[data-state="interrupted"] input[type="file"]').setInputFiles(path)
      await eventually('both are done', async () => (await done.count()) === 2)
      expect(await stored(link)).toEqual(whole(bytes))
    }, 120_000)

    test('what was begun elsewhere does not go on with another file of the same name, size and date', async () => {
      using folder = temporaryFolder(FOR_CHROMIUM)
      const owner = await filesOwner(holdfast)
      const program = tus(api(holdfast, owner.key))
      const bytes = random.bytes(300_000)
      const path = await oldFile(folder.path, 'film.mkv', bytes)
      const other = random.bytes(300_000)
      const about = { filename: 'film.mkv', lastModified: String(BEFORE * 1000) }
      const { path: address, slug } = await program.start(bytes.length, about)
      await program.patch(address, 0, bytes.slice(0, 100_000))
      await overwrite(path, other)
      await utimes(path, BEFORE, BEFORE)
      await using files = await openFilesPage(browser(), owner)
      await files.uploads().click()
      await files.page.locator('[data-again="film.mkv"]').setInputFiles(path)
      const film = uploadIn(files.page, 'film.mkv')
      await film.is('failed')
      expect(await film.row.textContent()).toContain('was changed after the upload began')
      expect(await program.offset(address)).toBe(100_000)
      await overwrite(path, bytes)
      await utimes(path, BEFORE, BEFORE)
      await files.page.reload()
      await files.uploads().click()
      await files.page.locator('[data-again="film.mkv"]').setInputFiles(path)
      await film.is('done')
      expect(slugOf(await film.link())).toBe(slug)
      expect(await readBack(holdfast.url, slug)).toEqual(whole(bytes))
    })

    test('files that are alike are each stored, together or one after the other, and the same file once', async () => {
      using one = temporaryFolder(FOR_CHROMIUM)
      using two = temporaryFolder(FOR_CHROMIUM)
      await using start = await openStartPage(browser(), holdfast.url)
      const contents = [random.bytes(MIB), random.bytes(MIB)]
      const paths = await Promise.all(
        [one, two].map(({ path }, at) => oldFile(path, 'photo.jpg', contents[at] ?? new Uint8Array())),
      )
      const rows = start.page.locator('.upload')
      const done = start.page.locator('.upload[data-state="done"]')
      // So slow that what comes later meets what is under way.
      await start.throttle(MIB / 4)
      await start.drop([paths[0] ?? ''])
      await eventually('the first is listed', async () => (await rows.count()) === 1)
      await start.drop([paths[0] ?? ''])
      await start.drop([paths[1] ?? ''])
      await eventually('the other is listed', async () => (await rows.count()) === 2)
      await start.throttle(null)
      await eventually('both are done', async () => (await done.count()) === 2)
      expect(await rows.count()).toBe(2)
      const [first, transfer] = [await linksOf(start.page), await start.transferLink()]
      // It is whole: what comes then is another one.
      await start.drop(paths)
      await eventually('there is another transfer', async () => (await start.transferLink()) !== transfer)
      await eventually('two more are done', async () => (await done.count()) === 2)
      const links = [...first, ...(await linksOf(start.page))]
      const hashes = await Promise.all(links.map(async (link) => (await stored(link)).sha256))
      expect(hashes.toSorted()).toEqual([...contents, ...contents].map(sha256).toSorted())
    })

    test('three pictures of one size that are pasted together are three files', async () => {
      await using start = await openStartPage(browser(), holdfast.url)
      await start.page.evaluate(PASTE_THREE)
      const done = start.page.locator('.upload[data-state="done"]')
      await eventually('three are done', async () => (await done.count()) === 3)
      const names = await start.page.locator('.upload [title]').allTextContents()
      expect(new Set(names).size).toBe(3)
      const links = await linksOf(start.page)
      const hashes = await Promise.all(links.map(async (link) => (await stored(link)).sha256))
      expect(hashes.toSorted()).toEqual(
        [1, 2, 3].map((byte) => sha256(new Uint8Array(1000).fill(byte))).toSorted(),
      )
    })
  })
})

function linksOf(page: Page): Promise<string[]> {
  return page
    .locator('.upload .upload-link')
    .evaluateAll((all: { getAttribute(name: string): string | null }[]) =>
      all.map((each) => each.getAttribute('href') ?? ''),
    )
}

/** Runs in the page: three pictures of one size in the clipboard, each called as browsers call all of them. */
const PASTE_THREE = `{
  const pasted = new DataTransfer()
  for (const byte of [1, 2, 3]) {
    pasted.items.add(new File([new Uint8Array(1000).fill(byte)], 'image.png', { type: 'image/png' }))
  }
  document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true, cancelable: true }))
}`
