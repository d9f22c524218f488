/**
 * Takes the pictures of the pages that are in docs/images.
 *
 *   npx bun test/screenshots/run.ts [<part of a scene's name>…]
 */
import { join } from 'node:path'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import sharp from 'sharp'
import { GENEROUS } from '../support/clients/public.ts'
import { startHoldfast } from '../support/servers/holdfast.ts'
import { fillDemo } from './demo.ts'
import { linkScenes } from './link-scenes.ts'
import { type Scene, scenes } from './scenes.ts'
import { browserAt, type Look, SITE } from './visiting.ts'

const IMAGES = join(import.meta.dir, '../../docs/images')

const desktop = { viewport: { width: 1200, height: 750 } }
const looks: Readonly<Record<Look, BrowserContextOptions>> = {
  light: { ...desktop, colorScheme: 'light' },
  dark: { ...desktop, colorScheme: 'dark' },
}

const wanted = Bun.argv.slice(2)
const chosen = [...scenes, ...linkScenes].filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
)

const host = await startHoldfast({ ...GENEROUS, publicUrl: SITE, contentUrl: SITE })
try {
  const demo = await fillDemo(host)
  await using browser = await browserAt(new URL(host.url))
  for (const scene of chosen) {
    for (const look of scene.looks ?? []) await take(browser, scene, look, (page) => scene.show(page, demo))
  }
} finally {
  await host.stop()
}

async function take(
  browser: Browser,
  { name }: Scene,
  look: Look,
  show: (page: Awaited<ReturnType<Browser['newPage']>>) => Promise<void>,
): Promise<void> {
  await using context = await browser.newContext({ baseURL: SITE, ...looks[look] })
  const page = await context.newPage()
  await show(page)
  const shot = await page.screenshot({ animations: 'disabled' })
  const path = join(IMAGES, `${name}-${look}.png`)
  await sharp(shot).png({ palette: true, quality: 90, effort: 10 }).toFile(path)
  console.log(`${path} ${Math.round(Bun.file(path).size / 1024)} KB`)
}
