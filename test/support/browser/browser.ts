/** Pages in Debian's Chromium, monitored for events that must not occur on any page. */
import { afterAll, beforeAll } from 'bun:test'
import axe from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { z } from 'zod'
import { patient } from '../patience.ts'
import { describeWith, type Tool, toolPath } from '../processes/tools.ts'

const CHROMIUM = toolPath('chromium') ?? 'chromium'
/** Disables all background traffic, so that it connects only to the test's server. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launchChromium(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...more] })
}

/** A browser with a persistent profile in the folder. `home` as in `openPage`. */
export function launchProfile(folder: string, home: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, { executablePath: CHROMIUM, args: FLAGS, baseURL: home })
}

/**
 * A suite whose tests share one browser, which the callback returns. Skipped without Chromium or another
 * required tool; with CI=true that counts as failed.
 */
export function describeInBrowser(
  title: string,
  tests: (browser: () => Browser) => void,
  ...more: readonly Tool[]
): void {
  describeWith(['chromium', ...more], title, () => {
    let browser: Browser | undefined
    beforeAll(async () => {
      browser = await launchChromium()
    })
    afterAll(() => browser?.close())
    tests(() => {
      if (browser === undefined) throw new Error('the browser is not running yet')
      return browser
    })
  })
}

/** A narrow phone. */
export const PHONE = {
  viewport: { width: 360, height: 740 },
  isMobile: true,
  hasTouch: true,
  deviceScaleFactor: 2,
} as const satisfies BrowserContextOptions

export interface Visit extends AsyncDisposable {
  readonly page: Page
  /**
   * Events that must not occur on any page: script errors, policy violations, dialogs, requests to other
   * hosts. `handlers`: the expected number of event handlers blocked by the policy, which programs look for
   * in folders.
   */
  trouble(handlers?: number): readonly string[]
  /** Discards the events so far, before another test. */
  forget(): void
}

/** Opens a page with a new profile. `home`: the server's address; nothing else may be loaded. */
export async function openPage(
  browser: Browser,
  home: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  return pageIn(await browser.newContext({ baseURL: home, ...options }), home)
}

/** A page that is closed while its dialog is answered needs no answer any more. */
export function ignoringClosedPage(answer: Promise<void>): void {
  answer.catch((error: unknown) => {
    if (!/closed|not attached to an active page/i.test(String(error))) throw error
  })
}

const SLOWEST = Number(process.env.HOLDFAST_TEST_SLOW_PAGES ?? '0')

/**
 * Delays each request of the page by a random time up to HOLDFAST_TEST_SLOW_PAGES milliseconds. Answers are not
 * touched, so event streams go on as they come. Routes that a test sets itself go first and have no delay.
 */
async function slowDown(page: Page): Promise<void> {
  if (SLOWEST === 0) return
  await page.route(/./, async (route) => {
    await Bun.sleep(Math.random() * SLOWEST)
    // The page may be closed by now, or the request aborted.
    await route.continue().catch(() => {})
  })
}

/** Opens a page in an existing profile, which is closed with the page. */
export async function pageIn(context: BrowserContext, home: string): Promise<Visit> {
  // Shorter than the limits of tests, so that a failure names what was waited for.
  context.setDefaultTimeout(patient(15))
  const page = await context.newPage()
  await slowDown(page)
  const trouble: string[] = []
  let stopped = 0
  page.on('pageerror', (error) => trouble.push(`error in a script: ${error.message}`))
  page.on('console', (message) => {
    // Failed loads are either intended by the test or reported by other handlers.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (message.type() !== 'error' || isAnswer) return
    if (message.text().startsWith('Executing inline event handler')) stopped++
    else trouble.push(`console: ${message.text()}`)
  })
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`)
    ignoringClosedPage(dialog.dismiss())
  })
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    const isLocal = protocol === 'data:' || protocol === 'blob:' || host === new URL(home).host
    if (!isLocal) trouble.push(`asked another host: ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() < 400 || response.request().isNavigationRequest()) return
    trouble.push(`${response.status()} for ${response.url()}`)
  })
  return {
    page,
    trouble: (handlers = 0) =>
      stopped === handlers
        ? trouble
        : [...trouble, `${stopped} event handlers were stopped instead of ${handlers}`],
    forget() {
      trouble.length = 0
      stopped = 0
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** Adds a virtual authenticator that is always unlocked. */
export async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

/** Evaluates a JavaScript expression over `it` for each element that the selector matches. */
export async function readElements<T>(
  page: Page,
  selector: string,
  expression: string,
  each: z.ZodType<T>,
): Promise<T[]> {
  const found = `[...document.querySelectorAll(${JSON.stringify(selector)})]`
  return z.array(each).parse(await page.evaluate(`${found}.map((it) => (${expression}))`))
}

const axeResult = z.object({
  violations: z.array(
    z.object({ id: z.string(), help: z.string(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
})

const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block']

/** Accessibility violations that axe finds on the page, one line each. */
export function accessibilityFaults(page: Page): Promise<string[]> {
  return axeFaults(page, {})
}

/** `accessibilityFaults` in light and in dark colours; the second run checks only rules about colours. */
export async function faultsInBothColours(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await axeFaults(page, {})
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await axeFaults(page, { runOnly: RULES_OF_COLOURS })
  return [...light.map((fault) => `in light: ${fault}`), ...dark.map((fault) => `in dark: ${fault}`)]
}

/** Waits for finite animations, since colours are different while an element fades in. */
async function animationsEnded(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const isOnItsWay = ({ playState, effect }) =>
      playState === 'running' && effect?.getComputedTiming().endTime !== Infinity
    // Their promises wait for a frame, and a page behind others may draw none.
    while (document.getAnimations().some(isOnItsWay)) await new Promise((resolve) => setTimeout(resolve, 20))
  })()`)
}

async function axeFaults(page: Page, options: { readonly runOnly?: readonly string[] }): Promise<string[]> {
  if (await page.evaluate('!("axe" in globalThis)')) {
    // Playwright's own injection parses such a long script several times.
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Runtime.evaluate', { expression: axe.source })
    await devtools.detach()
  }
  await animationsEnded(page)
  // Only violations are described in detail, which is much faster.
  const asked = JSON.stringify({ ...options, resultTypes: ['violations'] })
  const { violations } = axeResult.parse(await page.evaluate(`axe.run(${asked})`))
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`))
}

/** Width in pixels by which the page overflows the window. */
export async function pixelsBeside(page: Page): Promise<number> {
  return z
    .number()
    .parse(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'))
}

const target = z.object({ what: z.string(), width: z.number(), height: z.number() })

/**
 * Links and controls outside of running text that are too small for touch: under 44 px in a direction, with
 * the installed fonts or with another one. Also labels that are cut off, see `cutLabels`.
 */
export async function smallTargets(page: Page): Promise<string[]> {
  const small = async (font: string) => {
    const found = z.array(target).parse(await page.evaluate(`(${measureTargets})()`))
    return found
      .filter(({ width, height }) => width < 44 || height < 44)
      .map(({ what, width, height }) => `${what}: ${Math.round(width)} × ${Math.round(height)}${font}`)
  }
  const here = await small('')
  await page.evaluate(`(${anotherFont})(true)`)
  const elsewhere = await small(' with another font')
  await page.evaluate(`(${anotherFont})(false)`)
  return [...here, ...elsewhere, ...(await cutLabels(page))]
}

/** Labels of buttons that are cut off, and names whose beginning is shortened to next to nothing. */
export async function cutLabels(page: Page): Promise<string[]> {
  const isCut = "it.scrollWidth > it.clientWidth + 1 && !(it.matches('.name-start') && it.clientWidth > 24)"
  const said = `it.checkVisibility() && ${isCut} ? (it.closest('.name') ?? it).textContent : null`
  const found = await readElements(page, LABELS, said, z.string().nullable())
  return found.filter((text) => text !== null).map((text) => `cut off: ${text}`)
}

const LABELS = '.mantine-Button-label, .button, .menu-item, .name, .name-start'

/**
 * Runs in the page: a font with lower and narrower letters than the installed ones, as another machine may
 * have.
 */
const anotherFont = `(isOn) => {
  const others = document.adoptedStyleSheets.filter((sheet) => !sheet.isAnotherFont)
  const sheet = new CSSStyleSheet()
  sheet.isAnotherFont = true
  sheet.replaceSync(\`
    @font-face {
      font-family: Another;
      src: local('DejaVu Sans'), local('Liberation Sans'), local('Noto Sans Regular');
      ascent-override: 70%;
      descent-override: 15%;
      line-gap-override: 0%;
      size-adjust: 80%;
    }
    * { font-family: Another !important; }
  \`)
  document.adoptedStyleSheets = isOn ? [...others, sheet] : others
  return document.fonts.load('16px Another').then(() => {}, () => {})
}`

/**
 * Runs in the page. The touch area of a link may be enlarged by its pseudo-elements, that of an input by its
 * label.
 */
const measureTargets = `() => [...document.querySelectorAll('a[href], button, select, summary, input:not([type=hidden])')]
  .filter((it) => it.checkVisibility() && !it.closest('p, dd, li > .small'))
  .map((it) => {
    const covers = [getComputedStyle(it, '::after'), getComputedStyle(it, '::before')]
      .some(({ content, position, inset }) => content !== 'none' && position === 'absolute' && inset === '0px')
    const whole = covers ? it.offsetParent.closest('li') ?? it.offsetParent : it.closest('label') ?? it
    const box = whole.getBoundingClientRect()
    return { what: it.outerHTML.slice(0, 120), width: box.width + 0.5, height: box.height + 0.5 }
  })`
