/** What is dropped or chosen together: one entry that cannot be read keeps nothing else from going. */
// Only in test:all: files of the disk in a browser; start.test.ts has a drop.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describeInBrowser, openPage } from '../support/browser/browser.ts'
import { filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import { dropAt, fileIn, openStartPage, startPageIn, uploadIn } from '../support/browser/start-page.ts'
import { makeLink } from '../support/clients/links.ts'
import { GENEROUS, makeFolder } from '../support/clients/public.ts'
import { FOR_CHROMIUM, temporaryFolder } from '../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const WHY = 'This could not be read'

describeInBrowser(
  'all or nothing on messy input: what is dropped or chosen with something unreadable',
  (browser) => {
    let host: TestHoldfast
    beforeAll(async () => {
      host = await startHoldfast(GENEROUS)
    })
    afterAll(() => host.stop())

    /** An album with two files, and with a link that leads nowhere between them, which Chromium leaves out; and one by itself. */
    async function messy(folder: string) {
      const album = join(folder, 'album')
      await mkdir(album)
      await fileIn(album, 'a.txt', Buffer.from('a'))
      await symlink(join(folder, 'nowhere'), join(album, 'b.txt'))
      await fileIn(album, 'c.txt', Buffer.from('c'))
      const alone = join(folder, 'alone.txt')
      await symlink(join(folder, 'nowhere'), alone)
      return { album, alone, letter: await fileIn(folder, 'letter.txt', Buffer.from('letter')) }
    }

    describe('goes without that, which is named', () => {
      test('on the start page', async () => {
        using folder = temporaryFolder(FOR_CHROMIUM)
        await using start = await openStartPage(browser(), host.url)
        const { album, alone, letter } = await messy(folder.path)
        await start.drop([album, alone, letter])
        for (const name of ['a.txt', 'c.txt', 'letter.txt']) await start.upload(name).is('done')
        await start.upload('alone.txt').is('failed')
        expect(await start.upload('alone.txt').row.textContent()).toContain(WHY)
        expect(start.trouble()).toEqual([])
      })

      test('on the page of an upload link', async () => {
        using folder = temporaryFolder(FOR_CHROMIUM)
        const owner = await filesOwner(host)
        const into = await makeFolder(host, owner.key)
        const link = await makeLink(host, owner.key, { folders: [into], uploads: {} })
        await using start = await startPageIn(await openPage(browser(), host.url))
        await start.page.goto(`/l/${link}`)
        const { album, alone } = await messy(folder.path)
        await start.drop([album, alone])
        for (const name of ['a.txt', 'c.txt']) await start.upload(name).is('done')
        await start.upload('alone.txt').is('failed')
        expect(start.trouble()).toEqual([])
      })

      test('in the file manager', async () => {
        using folder = temporaryFolder(FOR_CHROMIUM)
        const owner = await filesOwner(host)
        await using files = await openFilesPage(browser(), owner)
        const { album, alone } = await messy(folder.path)
        await dropAt(await files.page.context().newCDPSession(files.page), { x: 600, y: 400 }, [album, alone])
        await files.uploads().click()
        for (const name of ['a.txt', 'c.txt']) await uploadIn(files.page, name).is('done')
        await uploadIn(files.page, 'alone.txt').is('failed')
        expect((await owner.api.files()).map(({ name }) => name).toSorted()).toEqual(['a.txt', 'c.txt'])
        expect(files.trouble()).toEqual([])
      })
    })

    test('chosen as a folder, goes without that, too', async () => {
      using folder = temporaryFolder(FOR_CHROMIUM)
      const owner = await filesOwner(host)
      await using files = await openFilesPage(browser(), owner)
      const { album } = await messy(folder.path)
      await files.page.locator('input[webkitdirectory]').setInputFiles(album)
      await files.uploads().click()
      for (const name of ['a.txt', 'c.txt']) await uploadIn(files.page, name).is('done')
      expect((await owner.api.files()).map(({ name }) => name).toSorted()).toEqual(['a.txt', 'c.txt'])
    })

    test('by a handle that gives no file, is named, and the others go', async () => {
      await using start = await openStartPage(browser(), host.url)
      await start.page.addInitScript({ content: PICKER })
      await start.page.goto('/')
      await start.page.waitForSelector('.zone[data-alive]')
      await start.page.getByRole('button', { name: 'Choose files' }).click()
      await start.upload('good.txt').is('done')
      await start.upload('bad.txt').is('failed')
      expect(await start.upload('bad.txt').row.textContent()).toContain(WHY)
    })
  },
)

/** Runs in the page: the picker gives one file, and one that was removed between choosing and reading it. */
const PICKER = `window.showOpenFilePicker = async () => {
  const folder = await navigator.storage.getDirectory()
  const good = await folder.getFileHandle('good.txt', { create: true })
  const writer = await good.createWritable()
  await writer.write('good')
  await writer.close()
  const bad = await folder.getFileHandle('bad.txt', { create: true })
  await folder.removeEntry('bad.txt')
  return [bad, good]
}`
