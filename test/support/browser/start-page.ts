/** The start page in a browser. */
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, CDPSession, Locator, Page } from 'playwright-core'
import { ignoringClosedPage, openPage, type Visit } from './browser.ts'

export interface StartPage extends Visit {
  /** Requests of uploads in order: the method, and for PATCH the offset. */
  readonly requests: readonly string[]
  /** Chooses files in the file input: paths, or contents. */
  choose(...files: readonly (string | ChosenFile)[]): Promise<void>
  /** Drops local files and folders on the page. */
  drop(paths: readonly string[]): Promise<void>
  /** The list's entry for a file. */
  upload(name: string): Upload
  /** The link of the transfer, as soon as there is one. */
  transferLink(): Promise<string>
  /** Stored state of uploads, which is written with a short delay. */
  kept(): Promise<string>
  /** Number of files stored for a resumed upload. */
  keptFiles(): Promise<number>
  /** Upload throughput in bytes per second; null: unlimited. */
  throttle(bytes: number | null): Promise<void>
}

export interface ChosenFile {
  readonly name: string
  readonly mimeType: string
  readonly buffer: Buffer
}

export interface Upload {
  readonly row: Locator
  /** Waits until the upload has that state. */
  is(state: string): Promise<void>
  /** The link of the file alone, as soon as there is one. */
  link(): Promise<string>
  press(label: string): Promise<void>
  /** Waits until the progress exceeds that percentage. */
  passes(percent: number): Promise<void>
}

export async function openStartPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<StartPage> {
  return startPageIn(await openPage(browser, url, options))
}

/** Opens the start page in an existing visit. */
export async function startPageIn(visit: Visit): Promise<StartPage> {
  const { page } = visit
  // Accepts the question whether to leave the page, which is expected here.
  page.removeAllListeners('dialog')
  page.on('dialog', (dialog) => ignoringClosedPage(dialog.accept()))
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
    transferLink: async () => (await page.locator('a.link-address').getAttribute('href')) ?? '',
    kept: () => page.evaluate<string>(`${readKept('uploads')}.then((all) => JSON.stringify(all))`),
    keptFiles: () => page.evaluate<number>(`${readKept('contents')}.then((all) => all.length)`),
    throttle: (bytes) => throttle(devtools, bytes),
  }
}

/** Requests of resumable uploads from now on, such as `PATCH 0`. */
export function uploadRequests(page: Page): string[] {
  const requests: string[] = []
  page.on('request', (request) => {
    const { 'upload-offset': offset = '' } = request.headers()
    if (request.url().includes('/api/v1/uploads')) requests.push(`${request.method()} ${offset}`.trim())
  })
  return requests
}

/** Sets the upload throughput in bytes per second; null: unlimited. */
export async function throttle(devtools: CDPSession, bytes: number | null): Promise<void> {
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: bytes ?? -1,
  })
}

/** Waits until the page is hydrated. */
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

/** Drops local files and folders at a point of the page. */
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
      return (await row.locator('.upload-link, .link-address').getAttribute('href')) ?? ''
    },
    async press(label) {
      const shown = row.getByRole('button', { name: `${label}: ${name}` })
      const menu = row.locator('.row-menu')
      await shown.or(menu).first().waitFor()
      if ((await shown.count()) > 0) return shown.click()
      await menu.click()
      await row.getByRole('menuitem', { name: label, exact: true }).click()
    },
    async passes(percent) {
      const bar = row.getByRole('progressbar')
      while (Number(await bar.getAttribute('aria-valuenow')) < percent) await Bun.sleep(20)
    },
  }
}

/** A file that exists only as bytes. */
export function chosenFile(
  name: string,
  bytes: Uint8Array,
  mimeType = 'application/octet-stream',
): ChosenFile {
  return { name, mimeType, buffer: Buffer.from(bytes) }
}

/** Writes a file into a folder and returns its path. */
export async function fileIn(folder: string, name: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, name)
  await Bun.write(path, bytes)
  return path
}

/** The slug in a link. */
export function slugOf(link: string): string {
  return link.slice(link.lastIndexOf('/') + 1)
}

/** Runs in the page: reads everything of one kind from IndexedDB. */
const readKept = (kind: 'uploads' | 'contents') => `new Promise((resolve, reject) => {
  const opening = indexedDB.open('holdfast-uploads')
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
