/** The start page in a browser, as a person uses it. */
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, CDPSession, Locator, Page } from 'playwright-core'
import { openPage, type Visit } from './browser.ts'

export interface StartPage extends Visit {
  /** Requests about uploads, in order: the method, and of PATCH the offset. */
  readonly requests: readonly string[]
  /** Chooses files in the field of the zone: paths, or contents that the browser is handed. */
  choose(...files: readonly (string | ChosenFile)[]): Promise<void>
  /** Drops files and folders of this machine on the page. */
  drop(paths: readonly string[]): Promise<void>
  /** What the list shows of a file. */
  upload(name: string): Upload
  /** What the page has noted for the one after it, a moment late. */
  kept(): Promise<string>
  /** How many files the browser keeps for that one. */
  keptFiles(): Promise<number>
  /** Bytes a second that go off; null for all that can. */
  throttle(bytes: number | null): Promise<void>
}

export interface ChosenFile {
  readonly name: string
  readonly mimeType: string
  readonly buffer: Buffer
}

export interface Upload {
  readonly row: Locator
  /** Waits until it is in a state. */
  is(state: string): Promise<void>
  /** Its link, as soon as there is one. */
  link(): Promise<string>
  press(label: string): Promise<void>
  /** Waits until its bar has passed so many percent. */
  passes(percent: number): Promise<void>
}

export async function openStartPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<StartPage> {
  return startPageIn(await openPage(browser, url, options))
}

/** Opens it where a visit has begun. */
export async function startPageIn(visit: Visit): Promise<StartPage> {
  const { page } = visit
  // The question whether the page may be left is no trouble here: the answer is yes.
  page.removeAllListeners('dialog')
  page.on('dialog', (dialog) => void dialog.accept())
  const requests = uploadRequests(page)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  await page.goto('/')
  await isAlive(page)
  return {
    ...visit,
    requests,
    choose: (...files) => choose(page, files),
    drop: (paths) => dropAt(devtools, { x: 300, y: 300 }, paths),
    upload: (name) => uploadIn(page, name),
    kept: () =>
      page.evaluate<string>(`${readKept('metadata')}.then((all) => all.map((it) => it.metadata).join())`),
    keptFiles: () => page.evaluate<number>(`${readKept('files')}.then((all) => all.length)`),
    throttle: (bytes) => throttle(devtools, bytes),
  }
}

/** What the page asks of resumable uploads from now on, such as `PATCH 0`. */
export function uploadRequests(page: Page): string[] {
  const requests: string[] = []
  page.on('request', (request) => {
    const { 'upload-offset': offset = '' } = request.headers()
    if (request.url().includes('/api/v1/uploads')) requests.push(`${request.method()} ${offset}`.trim())
  })
  return requests
}

/** Bytes a second that go off; null for all that can. */
export async function throttle(devtools: CDPSession, bytes: number | null): Promise<void> {
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: bytes ?? -1,
  })
}

/** Waits until the script has taken the page over. */
export async function isAlive(page: Page): Promise<void> {
  await page.waitForSelector('.zone[data-alive]')
}

async function choose(page: Page, files: readonly (string | ChosenFile)[]): Promise<void> {
  const field = page.locator('.zone-field')
  const paths = files.filter((file) => typeof file === 'string')
  const contents = files.filter((file) => typeof file !== 'string')
  if (paths.length > 0) await field.setInputFiles(paths)
  if (contents.length > 0) await field.setInputFiles(contents)
}

/** Drops files and folders of this machine at a point of the page. */
export async function dropAt(
  devtools: CDPSession,
  at: { readonly x: number; readonly y: number },
  paths: readonly string[],
): Promise<void> {
  const data = { items: [], files: [...paths], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await devtools.send('Input.dispatchDragEvent', { type, ...at, data })
  }
}

export function uploadIn(page: Page, name: string): Upload {
  const row = page.locator('.upload').filter({ has: page.getByTitle(name, { exact: true }) })
  return {
    row,
    async is(state) {
      await page.locator(`.upload[data-state="${state}"]`).and(row).waitFor()
    },
    async link() {
      return (await row.locator('.link-address').getAttribute('href')) ?? ''
    },
    press: (label) => row.getByRole('button', { name: `${label}: ${name}` }).click(),
    async passes(percent) {
      const bar = row.getByRole('progressbar')
      while (Number(await bar.getAttribute('aria-valuenow')) < percent) await Bun.sleep(20)
    },
  }
}

/** A file of the test's own, of which nothing is at hand but its bytes. */
export function chosenFile(
  name: string,
  bytes: Uint8Array,
  mimeType = 'application/octet-stream',
): ChosenFile {
  return { name, mimeType, buffer: Buffer.from(bytes) }
}

/** Writes a file into a folder; its path. */
export async function fileIn(folder: string, name: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, name)
  await Bun.write(path, bytes)
  return path
}

/** The slug in a link. */
export function slugOf(link: string): string {
  return link.slice(link.lastIndexOf('/') + 1)
}

/** Runs in the page: all that Golden Retriever keeps of a kind. */
const readKept = (kind: 'metadata' | 'files') => `new Promise((resolve, reject) => {
  const opening = indexedDB.open('uppy-blobs')
  opening.onerror = reject
  opening.onsuccess = () => {
    const reading = opening.result.transaction('${kind}').objectStore('${kind}').getAll()
    reading.onerror = reject
    reading.onsuccess = () => {
      opening.result.close()
      resolve(reading.result)
    }
  }
})`
