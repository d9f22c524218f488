/** What holds for every page of the site. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContextOptions, Page, Request, Response } from 'playwright-core'
import { ERROR_STATUSES, type ErrorCode } from '../../src/domain/errors.ts'
import { openBuiltSite } from '../../src/pages/built-site.ts'
import { de } from '../../src/pages/texts/de.ts'
import { en } from '../../src/pages/texts/en.ts'
import { readerOf } from '../../src/server/requests/browser.ts'
import {
  describeInBrowser,
  faultsInBothColours,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
  type Visit,
} from '../support/browser/browser.ts'
import {
  api,
  elements,
  GENEROUS,
  makeFolder,
  textBytes,
  type Uploaded,
  upload,
} from '../support/clients/public.ts'
import { HOSTILE_NAMES } from '../support/contents/hostile-names.ts'
import { PNG } from '../support/contents/picture.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const KB = 1000
const SCREENS: readonly (readonly [string, BrowserContextOptions])[] = [
  // Colours that are on their way from one scheme to the other are not those of either.
  ['on a desktop', { reducedMotion: 'reduce' }],
  ['on a phone', { ...PHONE, reducedMotion: 'reduce' }],
]

/** What the server at hand cannot be made to say is rendered as it would be. */
const RENDERED = ['RATE_LIMITED', 'INTERNAL_ERROR', 'DATABASE_UNAVAILABLE'] as const satisfies ErrorCode[]

/** Texts of several words that a German page has none of. */
const ENGLISH = leaves(en).filter(
  (text) => / /.test(text) && !/[{}]/.test(text) && !leaves(de).includes(text),
)

interface Place {
  readonly name: string
  path(): string
  readonly status?: number
  /** Sent with the request for the page alone. */
  readonly headers?: Readonly<Record<string, string>>
  readonly isRendered?: boolean
  /** Files that are shown, each with the event handler that programs look for. */
  readonly items?: number
}

describeInBrowser('every page', (browser) => {
  let host: TestHoldfast
  let key: string
  let file: Uploaded
  const folders = { gallery: '', list: '', empty: '', full: '', locked: '' }

  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
    key = (await host.addAccount()).apiKey
    for (const name of ['gallery', 'list', 'empty', 'full'] as const)
      folders[name] = await makeFolder(host, key)
    folders.locked = await makeFolder(host, key, { password: 'sesame' })
    const put = (folder: string, name: string) =>
      upload(host, { key, folder, name, bytes: name.endsWith('.png') ? PNG : textBytes(name) })
    file = await put(folders.list, 'notes.xyz')
    for (const name of ['a longer name than there is room for on a phone.txt', 'b.png'])
      await put(folders.list, name)
    for (const name of ['a.png', 'b.png', 'c.mp4']) await put(folders.gallery, name)
    const inner = { parent: folders.gallery, name: 'Inner' }
    await makeFolder(host, key, { parent: await makeFolder(host, key, inner), name: 'Innermost' })
    await makeFolder(host, key, { parent: folders.gallery, password: 'sesame' })
    const many = Array.from({ length: 101 }, (_, at) => put(folders.full, `${at}.txt`))
    await Promise.all(many)
    await host.runJobs()
  }, 120_000)
  afterAll(() => host.stop())

  const places: readonly Place[] = [
    { name: 'the start page', path: () => '/' },
    { name: 'a file', path: () => `/d/${file.slug}` },
    { name: 'signing in', path: () => '/sign-in' },
    { name: 'a report', path: () => `/d/${file.slug}/report` },
    { name: 'a folder as a gallery', path: () => `/f/${folders.gallery}`, items: 3 },
    { name: 'a folder as a list', path: () => `/f/${folders.list}?sort=downloads`, items: 3 },
    { name: 'an empty folder', path: () => `/f/${folders.empty}` },
    { name: 'the second page of a folder', path: () => `/f/${folders.full}?page=2`, items: 1 },
    { name: 'a locked folder', path: () => `/f/${folders.locked}` },
    { name: 'a guide', path: () => '/docs/api' },
    { name: 'a missing file', path: () => '/d/Aaaaaaaaaaaa', status: 404 },
    { name: 'a missing folder', path: () => '/f/aaaaaaaaaaaaaaaa', status: 404 },
    { name: 'a missing page', path: () => '/nothing/here', status: 404 },
    { name: 'a locked zip', path: () => `/f/${folders.locked}?download=zip`, status: 403 },
    {
      name: 'a part past the end',
      path: () => `/f/${folders.list}?download=zip`,
      headers: { range: 'bytes=99999999-' },
      status: 416,
    },
    ...RENDERED.map((code) => ({
      name: code,
      path: () => `/rendered/${code}`,
      status: ERROR_STATUSES[code],
      isRendered: true,
    })),
  ]
  const named = places.map((place) => [place.name, place] as const)

  /** Goes there; answers what came for the page itself. */
  async function visit(page: Page, place: Place): Promise<Response> {
    const { pages } = await openBuiltSite()
    await page.route(`${host.url}/rendered/*`, (route) => {
      const code = RENDERED.find((each) => route.request().url().endsWith(each)) ?? 'INTERNAL_ERROR'
      const status = ERROR_STATUSES[code]
      const view = { status, code, reason: null, retryAfter: 90, path: '/' }
      const body = pages.errorPage(
        view,
        readerOf(new Request(host.url, { headers: route.request().headers() })),
      )
      return route.fulfill({ status, contentType: 'text/html; charset=utf-8', body })
    })
    const { headers } = place
    if (headers !== undefined) {
      await page.route(host.url + place.path(), (route) =>
        route.continue({ headers: { ...route.request().headers(), ...headers } }),
      )
    }
    const response = await page.goto(place.path())
    expect(response?.status()).toBe(place.status ?? 200)
    if (response === null) throw new Error('nothing has answered')
    return response
  }

  /** One page for all tests of a suite, which go from place to place with it; a page of one's own takes longer. */
  function shared(options: BrowserContextOptions): () => Visit {
    let opened: Visit | undefined
    beforeAll(async () => {
      opened = await openPage(browser(), host.url, options)
    })
    afterAll(() => opened?.[Symbol.asyncDispose]())
    return () => {
      if (opened === undefined) throw new Error('the page is not open yet')
      return opened
    }
  }

  describe.each(SCREENS)('%s', (_, screen) => {
    const opened = shared(screen)

    test.each(named)('%s has no fault, in light and in dark', async (_name, place) => {
      const { page, trouble, forget } = opened()
      forget()
      await page.emulateMedia({ colorScheme: 'light' })
      await visit(page, place)
      expect(await faultsInBothColours(page)).toEqual([])
      expect(await pixelsBeside(page)).toBe(0)
      expect(await smallTargets(page)).toEqual([])
      expect(trouble(place.items ?? 0)).toEqual([])
    })
  })

  describe('without JavaScript', () => {
    const opened = shared({ javaScriptEnabled: false, locale: 'de-DE' })

    test.each(named)(
      '%s runs and loads nothing of others, and tells a German all in German',
      async (_name, place) => {
        const { page } = opened()
        const response = await visit(page, place)
        const html = await response.text()
        for (const script of elements(html, 'script')) {
          if (script.attributes.type === 'application/json') continue
          expect(script).toMatchObject({
            attributes: { src: expect.stringMatching(/^\/assets\//) },
            text: '',
          })
        }
        expect(elements(html, 'style')).toEqual([])
        expect(await page.locator('h1').first().isVisible()).toBe(true)
        expect(await page.locator('html').getAttribute('lang')).toBe('de')
        const text = await ownText(page)
        expect(ENGLISH.filter((each) => text.includes(each))).toEqual([])
        if (place.isRendered) return
        const { 'content-security-policy': policy = '', vary } = response.headers()
        expect(vary).toContain('Accept-Language')
        expect(policy).toContain("default-src 'none'")
        expect(policy).toMatch(/script-src 'self'(?: 'wasm-unsafe-eval')?;/)
        expect(policy).not.toMatch(/script-src[^;]*unsafe-(inline|eval|hashes)/)
        expect(policy).not.toContain('*')
      },
    )
  })

  test('leads from a form to a link, and from there to the bytes, without JavaScript', async () => {
    await using opened = await openPage(browser(), host.url, { javaScriptEnabled: false })
    const { page } = opened
    await page.goto('/')
    const buffer = Buffer.from('sent by a form')
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'form.txt', mimeType: 'text/plain', buffer })
    await page.locator('form [type=submit]').first().click()
    await page.waitForLoadState()
    expect(new URL(page.url()).pathname).toMatch(/^\/l\/[a-z0-9]{16}$/)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).first().click(),
    ])
    expect(await Bun.file(await download.path()).text()).toBe('sent by a form')
  })

  test.each([
    ['the start page', () => '/', { script: 45 * KB, stylesheet: 20 * KB }],
    ['a file', () => `/d/${file.slug}`, { script: 12 * KB, stylesheet: 20 * KB }],
    ['a folder', () => `/f/${folders.gallery}`, { script: 10 * KB, stylesheet: 20 * KB }],
  ])('%s loads no more than its budget before it is used', async (_, path, budget) => {
    await using opened = await openPage(browser(), host.url)
    // Sizes are asked for afterwards: a request that ends while the page closes could not answer.
    const requests: Request[] = []
    opened.page.on('requestfinished', (request) => requests.push(request))
    await opened.page.goto(path(), { waitUntil: 'networkidle' })
    const loaded = await Promise.all(
      requests.map(async (request) => {
        const { responseBodySize: bytes } = await request.sizes()
        return { type: request.resourceType(), bytes }
      }),
    )
    const sum = (type: string) =>
      loaded.filter((each) => each.type === type).reduce((total, { bytes }) => total + bytes, 0)
    expect(sum('script')).toBeWithin(1, budget.script)
    expect(sum('stylesheet')).toBeWithin(1, budget.stylesheet)
  })

  test('takes no name for more than a text', async () => {
    const folder = await makeFolder(host, key, { name: '<img src=x onerror=alert(0)>' })
    const kept: string[] = []
    const slugs: string[] = []
    for (const name of HOSTILE_NAMES) {
      await makeFolder(host, key, { parent: folder, name: name.slice(0, 100) })
      const { slug } = await upload(host, { key, folder })
      const answer = await api(host, key, 'PATCH', `/api/v1/file/${slug}`, { name })
      expect(answer.status).toBe(200)
      kept.push(name.normalize('NFC'))
      slugs.push(slug)
    }
    await using opened = await openPage(browser(), host.url)
    const { page } = opened
    for (const view of ['list', 'gallery']) {
      await page.goto(`/f/${folder}?view=${view}&order=asc`, { waitUntil: 'networkidle' })
      const shown = await page.locator('.file-item .name').allTextContents()
      expect(shown.toSorted()).toEqual(kept.toSorted())
      await page.locator('.file-item a').first().hover()
      for (let presses = 0; presses < 12; presses++) await page.keyboard.press('Tab')
    }
    for (const slug of slugs) await page.goto(`/d/${slug}`)
    await page.goto(`/f/${'<img src=x onerror=alert(0)>'}`)
    await page.goto(`/d/${encodeURIComponent('"><svg onload=alert(0)>')}?${'<script>alert(0)</script>'}`)
    expect(opened.trouble(2 * HOSTILE_NAMES.length)).toEqual([])
  }, 120_000)
})

/** What the main part says, without what it says to be in another language. */
async function ownText(page: Page): Promise<string> {
  const text = (await page.locator('main').textContent()) ?? ''
  const foreign = await page.locator('main [lang]').allTextContents()
  return foreign.reduce((left, each) => left.replace(each, () => ''), text)
}

/** The texts in a tree of them. */
function leaves(tree: object): string[] {
  return Object.values(tree).flatMap((each) => {
    if (typeof each === 'string') return [each]
    return each === null ? [] : leaves(each)
  })
}
