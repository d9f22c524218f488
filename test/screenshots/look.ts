/**
 * Takes pictures of every page and state, wide, as wide as a tablet and as narrow as a phone, in light and in dark, for
 * somebody to look at. A state that cannot be brought about is named.
 *
 *   npx bun test/screenshots/look.ts <folder> [<part of a name>…] [--locale de-DE] [--screens 844x390,320x256]
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import sharp from 'sharp'
import { GENEROUS } from '../support/clients/public.ts'
import { startHoldfast } from '../support/servers/holdfast.ts'
import { NO_MAIL_SERVER } from '../support/sign-in/mail-server.ts'
import { fillDemo } from './demo.ts'
import { linkScenes } from './link-scenes.ts'
import { scenes } from './scenes.ts'
import { states } from './states.ts'
import { fillStates, type StatesDemo } from './states-demo.ts'
import { browserAt, SITE, type State } from './visiting.ts'

/** Those of a phone are as narrow as one, or as low as one on its side. */
const PHONE = 500

const { positionals, values } = parseArgs({
  args: Bun.argv.slice(2),
  allowPositionals: true,
  options: {
    locale: { type: 'string', default: 'en-GB' },
    screens: { type: 'string', default: '1440x900,768x1024,390x844' },
  },
})
const [folder, ...wanted] = positionals
if (folder === undefined) throw new Error('say into which folder')
const screens = values.screens.split(',').map((each) => {
  const [width = 0, height = 0] = each.split('x').map(Number)
  const isPhone = Math.min(width, height) < PHONE
  return { width, height, isMobile: isPhone, hasTouch: isPhone }
})
await mkdir(folder, { recursive: true })
const all: readonly State[] = [...scenes, ...linkScenes, ...states]
const chosen = all.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))

const host = await startHoldfast({
  ...GENEROUS,
  publicUrl: SITE,
  contentUrl: SITE,
  signUp: 'open',
  mail: NO_MAIL_SERVER,
  sessionRateLimit: 1_000_000,
})
const missed: string[] = []
try {
  const demo = await fillStates(host, await fillDemo(host))
  await using browser = await browserAt(new URL(host.url))
  for (const state of chosen) {
    for (const screen of screens) await take(browser, state, screen, demo)
  }
} finally {
  await host.stop()
}
for (const line of missed) console.log(line)

async function take(
  browser: Browser,
  { name, show }: State,
  { width, height, ...kind }: (typeof screens)[number],
  demo: StatesDemo,
): Promise<void> {
  await using context = await browser.newContext({
    baseURL: SITE,
    viewport: { width, height },
    ...kind,
    reducedMotion: 'reduce',
    locale: values.locale,
  })
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  await show(page, demo).catch((error: unknown) => {
    const [why] = String(error).split('\n')
    missed.push(`${name} at ${width}: ${why}`)
  })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // What lies over the page covers the window, not all of the page.
    const fullPage = (await page.locator('dialog[open]').count()) === 0
    const shot = await page.screenshot({ animations: 'disabled', fullPage })
    const path = join(folder ?? '', `${name}-${width}-${colorScheme}.png`)
    await sharp(shot).png({ palette: true, quality: 90 }).toFile(path)
  }
}
