/** Pages as people see them: in Debian's Chromium, watched for what must not happen on any page. */
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
import { describeWith, type Tool, toolPath } from './tools.ts'

const CHROMIUM = toolPath('chromium') ?? 'chromium'
/** It speaks with nobody but the test. */
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

/** A browser that keeps what it knows in a folder, and finds there what the one before it knew. `home` as of `openPage`. */
export function launchProfile(folder: string, home: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, { executablePath: CHROMIUM, args: FLAGS, baseURL: home })
}

/**
 * A suite with one browser for all its tests, which they get by calling what they are handed. Without Chromium, or one of
 * the other tools it needs, it is left out; with CI=true that counts as failed.
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

/** A phone as narrow as they come. */
export const PHONE = {
  viewport: { width: 360, height: 740 },
  isMobile: true,
  hasTouch: true,
  deviceScaleFactor: 2,
} as const satisfies BrowserContextOptions

export interface Visit extends AsyncDisposable {
  readonly page: Page
  /**
   * What happened that happens on no page: script errors, violations of the policy, dialogs, calls to other hosts.
   * `handlers`: how many event handlers the policy had to stop, because programs look for them in folders.
   */
  trouble(handlers?: number): readonly string[]
  /** Lets another test begin: of what happened until now nothing is told any more. */
  forget(): void
}

/** A new page with a profile of its own. `home` is where the server is; nothing else may be loaded. */
export async function openPage(
  browser: Browser,
  home: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  return pageIn(await browser.newContext({ baseURL: home, ...options }), home)
}

/** A new page in a profile that is there, which ends with it. */
export async function pageIn(context: BrowserContext, home: string): Promise<Visit> {
  const page = await context.newPage()
  const trouble: string[] = []
  let stopped = 0
  page.on('pageerror', (error) => trouble.push(`error in a script: ${error.message}`))
  page.on('console', (message) => {
    // An address that answers with an error is one of those the test asked for, or is seen below.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (message.type() !== 'error' || isAnswer) return
    if (message.text().startsWith('Executing inline event handler')) stopped++
    else trouble.push(`console: ${message.text()}`)
  })
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
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

/** Gives the browser a device that keeps passkeys and is always unlocked. */
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

/** For each element that the selector finds what an expression of JavaScript over it, called `it`, gives. */
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

/** What axe finds fault with on the page as it is now; one line for each fault. */
export function accessibilityFaults(page: Page): Promise<string[]> {
  return axeFaults(page, {})
}

/** The same in light colours and then in dark ones, where only the colours are others. */
export async function faultsInBothColours(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await axeFaults(page, {})
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await axeFaults(page, { runOnly: RULES_OF_COLOURS })
  return [...light.map((fault) => `in light: ${fault}`), ...dark.map((fault) => `in dark: ${fault}`)]
}

/** A list that is just fading in has not the colours that people read it by. What goes on for ever is left alone. */
async function animationsEnded(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const isOnItsWay = ({ playState, effect }) =>
      playState === 'running' && effect?.getComputedTiming().endTime !== Infinity
    for (let animations; (animations = document.getAnimations().filter(isOnItsWay)).length > 0; )
      await Promise.allSettled(animations.map(({ finished }) => finished))
  })()`)
}

async function axeFaults(page: Page, options: { readonly runOnly?: readonly string[] }): Promise<string[]> {
  if (await page.evaluate('!("axe" in globalThis)')) {
    // Playwright's own way reads so long a script several times.
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Runtime.evaluate', { expression: axe.source })
    await devtools.detach()
  }
  await animationsEnded(page)
  // What is in order is not described node by node, which takes much longer than finding it so.
  const asked = JSON.stringify({ ...options, resultTypes: ['violations'] })
  const { violations } = axeResult.parse(await page.evaluate(`axe.run(${asked})`))
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`))
}

/** How many pixels of the page lie beside the window, which people would have to scroll to sideways. */
export async function pixelsBeside(page: Page): Promise<number> {
  return z
    .number()
    .parse(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'))
}

const target = z.object({ what: z.string(), width: z.number(), height: z.number() })

/**
 * Links and controls, outside of running text, that a thumb would miss: under 44 px in a direction, with the fonts at hand
 * or with another one.
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
  return [...here, ...elsewhere]
}

/** Runs in the page: a font whose letters are lower and narrower than those of the fonts at hand, as another machine may have one. */
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

/** Runs in the page. A link may be enlarged by what it shows before or after its text, an input by its label. */
const measureTargets = `() => [...document.querySelectorAll('a[href], button, select, summary, input:not([type=hidden])')]
  .filter((it) => it.checkVisibility() && !it.closest('p, dd, li > .small'))
  .map((it) => {
    const covers = [getComputedStyle(it, '::after'), getComputedStyle(it, '::before')]
      .some(({ content, position, inset }) => content !== 'none' && position === 'absolute' && inset === '0px')
    const whole = covers ? it.offsetParent.closest('li') ?? it.offsetParent : it.closest('label') ?? it
    const box = whole.getBoundingClientRect()
    return { what: it.outerHTML.slice(0, 120), width: box.width + 0.5, height: box.height + 0.5 }
  })`
