/** Uploads in the file manager: folders, what a reload interrupts, and what was begun elsewhere. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeInBrowser, faultsInBothColours, ignoringClosedPage } from '../support/browser/browser.ts'
import { type FilesOwner, type FilesPage, filesOwner, openFilesPage } from '../support/browser/files-page.ts'
import {
  chosenFile,
  dropAt,
  fileIn,
  slugOf,
  throttle,
  uploadIn,
  uploadRequests,
} from '../support/browser/start-page.ts'
import { chance } from '../support/chance.ts'
import { api } from '../support/clients/api.ts'
import { readBack, sha256 } from '../support/clients/caller.ts'
import { changeFolder, GENEROUS, makeFolder } from '../support/clients/public.ts'
import { type Tus, tus } from '../support/clients/tus.ts'
import { startInParts } from '../support/clients/tus-parts.ts'
import { FOR_CHROMIUM, temporaryFolder } from '../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const KIB = 1024
const MIB = 1024 ** 2

describeInBrowser('uploads in the file manager', (browser) => {
  let host: TestHoldfast
  const random = chance(44)
  const stored = (slug: string) => readBack(host.url, slug)
  const whole = (bytes: Uint8Array) => ({ size: bytes.length, sha256: sha256(bytes) })
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
  })
  afterAll(() => host.stop())

  /** The manager in a folder of somebody new, and a program of theirs. */
  async function opened(): Promise<{ owner: FilesOwner; files: FilesPage; folder: string; program: Tus }> {
    const owner = await filesOwner(host)
    const folder = await makeFolder(host, owner.key, { name: 'Films' })
    const files = await openFilesPage(browser(), owner, { path: `/files/${folder}` })
    return { owner, files, folder, program: tus(api(host, owner.key)) }
  }

  const placeOf = async ({ api }: FilesOwner, name: string) =>
    (await api.files()).find((file) => file.name === name)?.folder

  test('a dropped folder keeps its structure, below the folder that it is dropped on', async () => {
    const owner = await filesOwner(host)
    for (const name of ['Alpha', 'Beta']) await makeFolder(host, owner.key, { name })
    await using files = await openFilesPage(browser(), owner)
    using temporary = temporaryFolder(FOR_CHROMIUM)
    const { page } = files
    for (const path of ['album/one.txt', 'album/inner/two.txt', 'album/inner/deep/three.txt', 'letter.txt']) {
      const at = join(temporary.path, path)
      await mkdir(dirname(at), { recursive: true })
      await Bun.write(at, path)
    }
    await mkdir(join(temporary.path, 'album/empty/below'), { recursive: true })
    await files.lists('Alpha', 'Beta')
    const box = await files.row('Beta').boundingBox()
    await dropAt(
      await page.context().newCDPSession(page),
      { x: (box?.x ?? 0) + 50, y: (box?.y ?? 0) + 20 },
      ['album', 'letter.txt'].map((name) => join(temporary.path, name)),
    )
    await files.row('Beta').dblclick()
    await files.lists('album', 'letter.txt')
    await files.row('album').dblclick()
    await files.lists('empty', 'inner', 'one.txt')
    await files.row('inner').locator('.cell-size').getByText('2 files').waitFor()
    await files.row('inner').dblclick()
    await files.lists('deep', 'two.txt')
    await files.row('deep').dblclick()
    await files.lists('three.txt')
    await page.getByRole('navigation').getByRole('link', { name: 'album' }).click()
    await files.row('empty').dblclick()
    await files.lists('below')
    expect(await owner.api.files()).toHaveLength(4)

    // The same by keys, for who cannot drop.
    const choosing = page.waitForEvent('filechooser')
    await files.button('Files or a folder').focus()
    await files.press('Enter', 'ArrowDown', 'Enter')
    await (await choosing).setFiles(join(temporary.path, 'album/inner'))
    await files.lists('below', 'inner')
    await files.uploads().getByText('6 files uploaded').waitFor()
    expect((await owner.api.files()).filter(({ name }) => name === 'three.txt')).toHaveLength(2)
    expect(files.trouble()).toEqual([])
  })

  test('what a reload interrupts goes on by itself, to its folder and under its link', async () => {
    const { owner, files, folder } = await opened()
    await using _ = files
    const { page } = files
    // Whether the page may be left is asked, and the answer is yes.
    page.removeAllListeners('dialog')
    page.on('dialog', (dialog) => ignoringClosedPage(dialog.accept()))
    const requests = uploadRequests(page)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Network.enable')
    await throttle(devtools, MIB)
    const bytes = random.bytes(4 * MIB)
    await page.locator('.upload-field').setInputFiles(chosenFile('film.mkv', bytes))
    await files.uploads().click()
    const film = uploadIn(page, 'film.mkv')
    const link = await film.link()
    await film.passes(40)
    const before = requests.length
    await page.reload()
    await throttle(devtools, null)
    await files.lists('film.mkv')
    await files.uploads().click()
    await film.is('done')
    expect(await film.link()).toBe(link)
    expect(requests.slice(before)).toContainEqual(expect.stringMatching(/^PATCH [1-9]/))
    expect(requests.slice(before)).not.toContain('POST')
    expect(await stored(slugOf(link))).toEqual(whole(bytes))
    expect(await placeOf(owner, 'film.mkv')).toBe(folder)
  })

  test('of a private folder say that their links open for nobody else: on the way, stored, and after a reload', async () => {
    const { owner, files, folder } = await opened()
    await using _ = files
    const { page } = files
    const hidden = await makeFolder(host, owner.key, { name: 'Hidden', parent: folder, public: 0 })
    const note = (name: string) => uploadIn(page, name).row.getByText('Private: only you can open its link.')
    const put = (name: string) =>
      page.locator('.upload-field').setInputFiles(chosenFile(name, random.bytes(MIB)))
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Network.enable')
    await put('open.bin')
    await files.row('Hidden').dblclick()
    await throttle(devtools, 200 * KIB)
    await put('hidden.bin')
    await files.uploads().click()
    await uploadIn(page, 'hidden.bin').link()
    await uploadIn(page, 'hidden.bin').is('sending')
    await note('hidden.bin').waitFor()
    await throttle(devtools, null)
    await uploadIn(page, 'hidden.bin').is('done')
    await page.reload()
    await files.uploads().click()
    await note('hidden.bin').waitFor()
    await uploadIn(page, 'open.bin').is('done')
    expect(await note('open.bin').count()).toBe(0)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await faultsInBothColours(page)).toEqual([])

    const elsewhere = await tus(api(host, owner.key)).start(MIB, { filename: 'film.mkv', folder: hidden })
    await page.reload()
    await files.uploads().click()
    await page.locator('[data-again="film.mkv"]').setInputFiles(chosenFile('film.mkv', random.bytes(MIB)))
    await note('film.mkv').waitFor()
    await uploadIn(page, 'film.mkv').is('done')
    expect(slugOf(await uploadIn(page, 'film.mkv').link())).toBe(elsewhere.slug)
    await changeFolder(host, owner.key, hidden, { public: 1 })
    await note('film.mkv').waitFor({ state: 'detached' })
    expect(files.trouble()).toEqual([])
  }, 120_000)

  test('what was begun elsewhere goes on with the same file, and with no other', async () => {
    const { owner, files, folder, program } = await opened()
    await using _ = files
    using temporary = temporaryFolder()
    const { page } = files
    const bytes = random.bytes(300 * KIB)
    const path = await fileIn(temporary.path, 'film.mkv', bytes)
    const other = await fileIn(temporary.path, 'other.mkv', random.bytes(1000))
    await mkdir(join(temporary.path, 'newer'))
    const newer = await fileIn(temporary.path, 'newer/film.mkv', random.bytes(300 * KIB))
    await utimes(path, 1_700_000_000, 1_700_000_000)
    const about = { filename: 'film.mkv', folder, lastModified: '1700000000000' }
    const { path: address, slug } = await program.start(bytes.length, about)
    await program.patch(address, 0, bytes.slice(0, 100 * KIB))

    await files.uploads().click()
    const row = page.getByRole('listitem').filter({ has: page.getByTitle('film.mkv', { exact: true }) })
    await row.getByText('100 KB of 300 KB').waitFor()
    const choosing = page.waitForEvent('filechooser')
    await files.button('Choose the file again: film.mkv').click()
    await (await choosing).setFiles(other)
    await row.getByText('This is another file: “other.mkv” has 1,000 B.').waitFor()
    const field = page.locator('[data-again="film.mkv"]')
    await field.setInputFiles(newer)
    await row.getByText('This “film.mkv” was changed after the upload began.').waitFor()
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await faultsInBothColours(page)).toEqual([])
    const sent = page.waitForRequest((request) => request.method() === 'PATCH')
    await field.setInputFiles(path)
    const { 'upload-offset': offset } = (await sent).headers()
    expect(offset).toBe(String(100 * KIB))
    const film = uploadIn(page, 'film.mkv')
    await film.is('done')
    expect(slugOf(await film.link())).toBe(slug)
    expect(await stored(slug)).toEqual(whole(bytes))
    expect(await placeOf(owner, 'film.mkv')).toBe(folder)
    expect(await page.getByText('Started elsewhere and not finished').count()).toBe(0)
    expect(files.trouble()).toEqual([])
  })

  test('what the command line began as partial uploads goes on with the same file, and with no other', async () => {
    const { files, program } = await opened()
    await using _ = files
    using temporary = temporaryFolder()
    const { page } = files
    const bytes = random.bytes(300 * KIB)
    const path = await fileIn(temporary.path, 'film.mkv', bytes)
    await mkdir(join(temporary.path, 'other'))
    const other = await fileIn(temporary.path, 'other/film.mkv', random.bytes(300 * KIB))
    const begun = await startInParts(program, bytes.length, 100 * KIB)
    await begun.send(bytes, 0, 100 * KIB)
    await begun.send(bytes, 200 * KIB, 250 * KIB)

    await files.uploads().click()
    const row = page.getByRole('listitem').filter({ has: page.getByTitle('film.mkv', { exact: true }) })
    await row.getByText('150 KB of 300 KB').waitFor()
    const field = page.locator('[data-again="film.mkv"]')
    await field.setInputFiles(other)
    const film = uploadIn(page, 'film.mkv')
    await film.is('failed')
    expect(await film.row.textContent()).toContain('was changed after the upload began')
    await page.reload()
    await files.uploads().click()
    const offsets: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.method() === 'PATCH') offsets.push(request.headers()['upload-offset'])
    })
    await field.setInputFiles(path)
    await film.is('done')
    expect(offsets).toEqual(['0', String(50 * KIB)])
    expect(slugOf(await film.link())).toBe(begun.slug)
    expect(await stored(begun.slug)).toEqual(whole(bytes))
    expect(files.trouble()).toEqual([])
  })

  test('what was begun elsewhere can be given up, and says so when it is over meanwhile', async () => {
    const { owner, files, program } = await opened()
    await using _ = files
    const { page } = files
    const lost = await program.start(1000, { filename: 'lost.mkv' })
    await program.start(1000, { filename: 'film.mkv' })
    // How much it is going to be is not known, so that no file can be told to be the same.
    await program.start(null, { filename: 'stream.ts' })
    await files.uploads().click()
    await files.button('Discard: stream.ts').waitFor()
    expect(await files.button('Choose the file again: stream.ts').count()).toBe(0)
    await files.button('Discard: film.mkv').click()
    await files.button('Discard: film.mkv').waitFor({ state: 'detached' })
    await files.button('Discard: stream.ts').click()
    await files.button('Discard: stream.ts').waitFor({ state: 'detached' })
    await program.remove(lost.path)
    expect(await owner.api.get('/api/v1/uploads')).toEqual({ success: true, data: [] })
    await page
      .locator('[data-again="lost.mkv"]')
      .setInputFiles(chosenFile('lost.mkv', new Uint8Array(random.bytes(1000))))
    await uploadIn(page, 'lost.mkv').is('failed')
    // It is not begun anew: to which folder it was to go is not known here.
    expect(await owner.api.get('/api/v1/uploads')).toEqual({ success: true, data: [] })
    expect(files.trouble()).not.toContainEqual(expect.stringMatching(/^[^4]/))
  })
})
