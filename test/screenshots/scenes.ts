/** What is shown in docs/images, and some more of what there is to look at. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Demo } from './demo.ts'
import { landscape } from './landscapes.ts'
import { said } from './said.ts'
import { type Look, open, openBin, openSignedIn, signIn } from './visiting.ts'

export interface Scene {
  readonly name: string
  /** Of its pictures in docs/images; none unless told. */
  readonly looks?: readonly Look[]
  /** Opens the page and brings it into the state that is to be seen. */
  show(page: Page, demo: Demo): Promise<void>
}

export const scenes: readonly Scene[] = [
  {
    name: 'start',
    show: (page) => open(page, '/'),
  },
  {
    name: 'uploading',
    looks: ['light', 'dark'],
    async show(page) {
      await open(page, '/')
      const line = await page.context().newCDPSession(page)
      await line.send('Network.emulateNetworkConditions', LINE)
      const folder = await mkdtemp(join(tmpdir(), 'holdfast-sent-'))
      page.on('close', () => void rm(folder, { recursive: true }))
      await page.locator('.zone-field').setInputFiles(await sentFiles(folder))
      const film = page.locator('.upload').filter({ hasText: 'Waves' })
      const share = async () => Number(await film.getByRole('progressbar').getAttribute('aria-valuenow'))
      while ((await share()) < 60) await Bun.sleep(50)
    },
  },
  {
    name: 'transfer',
    looks: ['light'],
    async show(page) {
      await open(page, '/')
      const names = ['Programme.pdf', 'Seating plan.pdf', 'Directions.txt']
      const files = names.map((name) => ({ name, mimeType: '', buffer: Buffer.alloc(90_000, name) }))
      await page.locator('.zone-field').setInputFiles(files)
      await page.locator('.upload[data-state="done"]').nth(2).waitFor()
    },
  },
  {
    name: 'file-image',
    looks: ['light', 'dark'],
    show: (page, { picture }) => open(page, `/d/${picture.slug}`),
  },
  {
    name: 'file-video',
    async show(page, { video }) {
      await open(page, `/d/${video.slug}`)
      await page.evaluate(playTo(3))
      // The sign that it is loading goes away slowly.
      await Bun.sleep(1000)
    },
  },
  {
    name: 'file-text',
    looks: ['light'],
    show: (page, { text }) => open(page, `/d/${text.slug}`),
  },
  {
    name: 'folder-gallery',
    looks: ['light', 'dark'],
    show: (page, { gallery }) => open(page, `/f/${gallery}`),
  },
  {
    name: 'folder-list',
    show: (page, { list }) => open(page, `/f/${list}?sort=name`),
  },
  {
    name: 'files',
    looks: ['light', 'dark'],
    async show(page, demo) {
      await signIn(page, demo)
      await page.goto(`/files/${demo.gallery}`)
      const picture = page.locator('[data-row]').filter({ hasText: 'Kelp forest.jpg' })
      await picture.waitFor()
      while (!(await page.evaluate<boolean>(ROW_PICTURES_SHOWN))) await Bun.sleep(20)
      if ((page.viewportSize()?.width ?? 0) < 800) return
      await picture.dblclick()
      await page.locator('img.preview[src$="960"]').waitFor()
      await page.evaluate('document.querySelector("img.preview").decode()')
    },
  },
  {
    name: 'bin',
    async show(page, demo) {
      await signIn(page, demo)
      await page.goto('/files')
      await page.locator('[data-row]').first().waitFor()
      await openBin(page)
    },
  },
  {
    name: 'sign-in',
    show: (page) => open(page, '/sign-in'),
  },
  {
    name: 'settings',
    looks: ['light'],
    show: (page, demo) => openSignedIn(page, '/settings', demo),
  },
  {
    name: 'settings-keys',
    looks: ['light'],
    async show(page, demo) {
      await openSignedIn(page, '/settings/keys', demo)
      await page.getByRole('button', { name: said('New key') }).click()
      await page.getByRole('textbox', { name: said('Name') }).fill('Screenshots')
    },
  },
  {
    name: 'admin',
    looks: ['light'],
    show: (page, { administrator }) => openSignedIn(page, '/admin', { cookies: administrator }),
  },
  {
    name: 'admin-reports',
    looks: ['light'],
    show: (page, { administrator }) => openSignedIn(page, '/admin/reports', { cookies: administrator }),
  },
  {
    name: 'reference',
    async show(page) {
      await open(page, '/docs#get-api-v1-files')
      await page.locator('#get-api-v1-files pre').first().waitFor()
    },
  },
  {
    name: 'error',
    show: (page) => open(page, '/d/nothing'),
  },
  {
    name: 'password',
    show: (page, { locked }) => open(page, `/f/${locked}`),
  },
]

/** Such as people have at home. */
const LINE = { offline: false, latency: 20, downloadThroughput: -1, uploadThroughput: 6e6 }

/**
 * Paths of a picture that is soon there, and of a film that is not. The browser reads them by itself: sent to it as
 * bytes, the film takes longer than it waits for.
 */
async function sentFiles(folder: string): Promise<string[]> {
  const picture = Buffer.from(await landscape(5))
  const files = { 'Kelp forest.jpg': picture, 'Waves at dusk.mp4': Buffer.alloc(48 * 1024 ** 2, picture) }
  for (const [name, bytes] of Object.entries(files)) await Bun.write(join(folder, name), bytes)
  return Object.keys(files).map((name) => join(folder, name))
}

/** Runs in the page. */
const ROW_PICTURES_SHOWN =
  '[...document.querySelectorAll("[data-row] img")].every(({ complete, naturalWidth }) => complete && naturalWidth > 0)'

/** Runs in the page: the video stands at that second, with its picture there. */
const playTo = (second: number) => `new Promise((resolve) => {
  const video = document.querySelector('video')
  video.addEventListener('seeked', resolve, { once: true })
  video.currentTime = ${second}
})`
