/** The file manager where the server refuses, where windows are open beside each other, and where changes are missed. */
// Only in test:all: files.test.ts works on the same page.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { accessibilityFaults, describeInBrowser, openPage, type Visit } from '../support/browser/browser.ts'
import { filesOwner, filesPageIn, openFilesPage } from '../support/browser/files-page.ts'
import { bearer, GENEROUS, makeFolder, upload } from '../support/clients/public.ts'
import { addCopies } from '../support/contents/file-copies.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

/** What is dragged, by the types and data that go with it. */
const dragged = z.array(z.tuple([z.string(), z.string()]))

describeInBrowser('the file manager', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
  })
  afterAll(() => host.stop())

  test('says that a file of a private folder in the bin is not back, and asks where it is to go', async () => {
    const own = await filesOwner(host)
    const alpha = await makeFolder(host, own.key, { name: 'Alpha' })
    const secret = await makeFolder(host, own.key, { name: 'Secret', public: 0 })
    await upload(host, { key: own.key, name: 'letter.txt', folder: secret })
    await using files = await openFilesPage(browser(), own, { path: `/files/${secret}` })
    await files.row('letter.txt').click()
    await files.press('Delete')
    await files.says('1 item moved to the bin')
    await own.api.post('/api/v1/bin', { folders: [secret] })
    const notice = files.page.locator('.notice').filter({ hasText: '1 item moved to the bin' })
    await notice.getByRole('button', { name: 'Undo' }).click()
    await files.says('“letter.txt” was not changed. The folder is no longer there.')

    await files.button('Bin').click()
    const dialog = files.page.getByRole('dialog')
    await files.button('Restore: letter.txt').click()
    await dialog.getByText('Choose where it goes').waitFor()
    expect(await accessibilityFaults(files.page)).toEqual([])
    await dialog.getByRole('treeitem', { name: 'Alpha' }).click()
    await files.button('Restore here').click()
    await files.button('Restore: letter.txt').waitFor({ state: 'detached' })
    expect(await own.api.files()).toMatchObject([{ name: 'letter.txt', folder: alpha }])
    // The folder that it shows is gone.
    expect(files.trouble().filter((line) => !line.endsWith(`folder=${secret}`))).toEqual([])
  })

  test('shows all of a long bin, though some of it is restored meanwhile', async () => {
    const own = await filesOwner(host)
    const first = await upload(host, { key: own.key, name: 'first.txt' })
    const copies = await addCopies(host.database, first.file_id, 103, (number) => `${number}.txt`)
    await own.api.post('/api/v1/bin', { files: copies })
    await using files = await openFilesPage(browser(), own)
    await files.button('Bin').click()
    const rows = files.page.getByRole('dialog').getByRole('listitem')
    const shows = (count: number) =>
      eventually(`it shows ${count}`, async () => (await rows.count()) === count)
    await shows(100)
    for (const name of ['102.txt', '101.txt', '50.txt', '40.txt', '30.txt']) {
      await files.button(`Restore: ${name}`).click()
      await files.button(`Restore: ${name}`).waitFor({ state: 'detached' })
    }
    await files.page.getByRole('status').getByText('“30.txt” is restored').waitFor()
    // The next of them has the focus.
    await files.button('Restore: 29.txt').and(files.page.locator(':focus')).waitFor()
    await files.button('Show more').click()
    await shows(98)
    expect(await files.button('Show more').count()).toBe(0)
    expect(files.trouble()).toEqual([])
  })

  test('moves nothing that was dragged before when something comes from another window', async () => {
    const own = await filesOwner(host)
    const beta = await makeFolder(host, own.key, { name: 'Beta' })
    for (const name of ['one.txt', 'two.txt', 'three.txt']) await upload(host, { key: own.key, name })
    await using here = await openFilesPage(browser(), own)
    await using there = await openFilesPage(browser(), own)
    const drag = async ({ page }: Visit, name: string) =>
      dragged.parse(await page.evaluate(`(${DRAG})('${name}')`))
    const dropOnBeta = (entries: z.infer<typeof dragged>) =>
      here.page.evaluate(`(${DROP})('${beta}', ${JSON.stringify(entries)})`)
    await drag(here, 'one.txt')
    await dropOnBeta(await drag(there, 'two.txt'))
    await dropOnBeta(await drag(here, 'three.txt'))
    await here.says('1 item moved to Beta')
    await here.lists('Beta', 'one.txt', 'two.txt')
    const moved = (await own.api.files()).filter(({ folder }) => folder === beta)
    expect(moved.map(({ name }) => name)).toEqual(['three.txt'])
    expect([...here.trouble(), ...there.trouble()]).toEqual([])
  })

  test('shows what has changed before it was told of changes, and while nobody saw it', async () => {
    const own = await filesOwner(host)
    await upload(host, { key: own.key, name: 'before.txt' })
    const visit = await openPage(browser(), own.url, { extraHTTPHeaders: bearer(own.key) })
    const { page } = visit
    const isListed = Promise.withResolvers<void>()
    await page.route('**/api/v1/events', async (route) => {
      await isListed.promise
      await route.continue()
    })
    await page.addInitScript(NOTE_STREAMS)
    await page.goto('/files')
    await using files = await filesPageIn(visit)
    await files.lists('before.txt')
    await upload(host, { key: own.key, name: 'later.txt' })
    isListed.resolve()
    await files.lists('before.txt', 'later.txt')

    const openStreams = () => page.evaluate<number>('streams.filter((one) => one.readyState !== 2).length')
    expect(await openStreams()).toBe(1)
    await page.evaluate(setVisible(false))
    expect(await openStreams()).toBe(0)
    await upload(host, { key: own.key, name: 'unseen.txt' })
    await page.evaluate(setVisible(true))
    await files.lists('before.txt', 'later.txt', 'unseen.txt')
    expect(await openStreams()).toBe(1)
    expect(files.trouble()).toEqual([])
  })
})

// These run in the page.

const DRAG = `(name) => {
  const row = [...document.querySelectorAll('[data-row]')].find((one) => one.textContent.includes(name))
  const dataTransfer = new DataTransfer()
  row.dispatchEvent(new DragEvent('dragstart', { bubbles: true, cancelable: true, dataTransfer }))
  return [...dataTransfer.types].map((type) => [type, dataTransfer.getData(type)])
}`

const DROP = `(place, dragged) => {
  const folder = document.querySelector('[role="treeitem"][data-drop="' + place + '"]')
  const dataTransfer = new DataTransfer()
  for (const [type, data] of dragged) dataTransfer.setData(type, data)
  for (const kind of ['dragover', 'drop']) {
    folder.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }))
  }
}`

const NOTE_STREAMS = `
  window.streams = []
  window.EventSource = class extends EventSource {
    constructor(address) {
      super(address)
      streams.push(this)
    }
  }`

const setVisible = (isVisible: boolean) => `
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${!isVisible} })
  Object.defineProperty(document, 'visibilityState', {
    configurable: true,
    get: () => '${isVisible ? 'visible' : 'hidden'}',
  })
  document.dispatchEvent(new Event('visibilitychange'))`
