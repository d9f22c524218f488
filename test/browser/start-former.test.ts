/** The start page after an update: what a page with Uppy has left in the browser goes on. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeInBrowser, openPage } from '../support/browser/browser.ts'
import { chosenFile, slugOf, startPageIn } from '../support/browser/start-page.ts'
import { readBack, sha256 } from '../support/clients/caller.ts'
import { GENEROUS } from '../support/clients/public.ts'
import { guestAt, tus } from '../support/clients/tus.ts'
import { eventually } from '../support/eventually.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const SIZE = 300_000
const SENT = 100_000
const bytes = Uint8Array.from({ length: SIZE }, (_, at) => at % 251)
const WRITTEN = 1_700_000_000_000

describeInBrowser('uploads that a former page has left', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
  })
  afterAll(() => host.stop())

  test('go on where they were, by themselves or with their file, and nothing of that page is left', async () => {
    const program = tus(guestAt(host.url))
    const begin = async (name: string) => {
      const { path, slug } = await program.start(SIZE, { filename: name })
      await program.patch(path, 0, bytes.slice(0, SENT))
      return { name, address: path, link: `${host.url}/d/${slug}` }
    }
    const uploads = await Promise.all(['kept.bin', 'handle.bin', 'lost.bin'].map(begin))
    const visit = await openPage(browser(), host.url)
    // A page that uploads nothing, to have the storage of the site.
    await visit.page.goto('/sign-in')
    await visit.page.evaluate(leave(uploads))
    await using start = await startPageIn(visit)
    const lost = start.upload('lost.bin')
    await lost.row.getByText('Interrupted at 33%. Choose the same file once more').waitFor()
    await start.page.evaluate(NEW_FILE)
    for (const name of ['kept.bin', 'handle.bin']) await start.upload(name).is('done')
    await lost.is('done')
    for (const { name, link } of uploads) {
      expect(await start.upload(name).link()).toBe(link)
      expect(await readBack(host.url, slugOf(link))).toEqual({ size: SIZE, sha256: sha256(bytes) })
    }
    expect(start.requests).not.toContain('POST')
    await eventually('nothing of it is left', async () => {
      const names = await start.page.evaluate<string[]>(
        'indexedDB.databases().then((all) => all.map(({ name }) => name))',
      )
      return Bun.deepEquals(names, ['holdfast-uploads'])
    })
    expect(start.trouble()).toEqual([])
  })

  test('that have expired are not shown', async () => {
    const program = tus(guestAt(host.url))
    const { path, slug } = await program.start(SIZE, { filename: 'old.bin' })
    const old = { name: 'old.bin', address: path, link: `${host.url}/d/${slug}` }
    const visit = await openPage(browser(), host.url)
    await visit.page.goto('/sign-in')
    await visit.page.evaluate(leave([old], -1))
    await using start = await startPageIn(visit)
    await start.choose(chosenFile('new.bin', bytes))
    await start.upload('new.bin').is('done')
    expect(await start.upload('old.bin').row.count()).toBe(0)
  })
})

/** Runs in the page: gives the file of the upload that has lost it. */
const NEW_FILE = `(() => {
  const bytes = Uint8Array.from({ length: ${SIZE} }, (_, at) => at % 251)
  const chosen = new DataTransfer()
  chosen.items.add(new File([bytes], 'lost.bin', { lastModified: ${WRITTEN} }))
  const rows = [...document.querySelectorAll('.upload')]
  const field = rows.find((row) => row.querySelector('[title="lost.bin"]')).querySelector('input[type="file"]')
  field.files = chosen.files
  field.dispatchEvent(new Event('change', { bubbles: true }))
})()`

/**
 * Runs in the page: writes what Golden Retriever 6.0.0 and the page around it wrote. The content of `kept.bin` was kept
 * by the browser, of `handle.bin` a handle, of `lost.bin` neither.
 */
function leave(
  uploads: readonly { readonly name: string; readonly address: string; readonly link: string }[],
  expiresIn = 3_600_000,
): string {
  return `(async () => {
    const uploads = ${JSON.stringify(uploads)}
    const window = 'page-0'
    const expires = Date.now() + ${expiresIn}
    const bytes = Uint8Array.from({ length: ${SIZE} }, (_, at) => at % 251)
    const folder = await navigator.storage.getDirectory()
    const handle = await folder.getFileHandle('handle.bin', { create: true })
    const writer = await handle.createWritable()
    await writer.write(bytes)
    await writer.close()
    const { lastModified } = await handle.getFile()
    const open = (name, version, upgrade) => new Promise((resolve, reject) => {
      const request = indexedDB.open(name, version)
      request.onupgradeneeded = () => upgrade(request.result)
      request.onerror = reject
      request.onsuccess = () => resolve(request.result)
    })
    const written = (transaction) => new Promise((resolve, reject) => {
      transaction.oncomplete = resolve
      transaction.onerror = reject
    })
    const uppy = await open('uppy-blobs', 4, (database) => {
      const files = database.createObjectStore('files', { keyPath: 'id' })
      files.createIndex('store', 'store', { unique: false })
      files.createIndex('expires', 'expires', { unique: false })
      database.createObjectStore('metadata', { keyPath: 'id' }).createIndex('expires', 'expires')
    })
    const kept = uppy.transaction(['files', 'metadata'], 'readwrite')
    const files = Object.fromEntries(uploads.map(({ name, address, link }) => [
      'uppy-' + name,
      {
        id: 'uppy-' + name, name, type: 'application/octet-stream', size: ${SIZE}, isRemote: false, isPaused: false,
        meta: {
          name, relativePath: null, path: null, folder: null, created: { address, link },
          lastModified: name === 'handle.bin' ? lastModified : ${WRITTEN},
        },
        progress: { bytesUploaded: ${SENT}, bytesTotal: ${SIZE}, percentage: 33, uploadStarted: 1, uploadComplete: false },
        tus: { uploadUrl: address },
      },
    ]))
    const metadata = JSON.stringify({ currentUploads: {}, files, pluginData: {} })
    kept.objectStore('metadata').put({ id: window, expires, metadata })
    if (uploads.some(({ name }) => name === 'kept.bin')) {
      const data = new File([bytes], 'kept.bin')
      const id = 'uppy-kept.bin'
      kept.objectStore('files').put({ id: window + '!' + id, fileID: id, store: window, expires, data })
    }
    await written(kept)
    uppy.close()
    const handles = await open('holdfast-' + window, 1, (database) => database.createObjectStore('handles'))
    const putting = handles.transaction('handles', 'readwrite')
    putting.objectStore('handles').put(handle, 'uppy-handle.bin')
    await written(putting)
    handles.close()
  })()`
}
