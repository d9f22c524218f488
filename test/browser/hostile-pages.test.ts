/** Names and contents that try to do something, where their owners, administrators and visitors meet them. */
// Only in test:all: generated: every hostile name on every page.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { HOUR } from '../../src/domain/clock.ts'
import { describeInBrowser, openPage } from '../support/browser/browser.ts'
import { openPageAs } from '../support/browser/signed-in-page.ts'
import { api as caller } from '../support/clients/api.ts'
import {
  api,
  GENEROUS,
  makeFolder,
  signedAddress,
  textBytes,
  type Uploaded,
  upload,
} from '../support/clients/public.ts'
import { signedIn, type Visitor } from '../support/clients/site-visitor.ts'
import { MARKUP, PDF_ACTIONS, SCRIPT, SVG } from '../support/contents/hostile-contents.ts'
import { HOSTILE_NAMES } from '../support/contents/hostile-names.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { administrator, type TestAdministrator } from '../support/sign-in/administrator.ts'
import { pdf } from './shown-files.ts'

/** As many folders as the picture of the storage names. */
const NAMED_FOLDERS = 10
const NAMES = HOSTILE_NAMES.map((name) => name.normalize('NFC'))

describeInBrowser('what is hostile', (browser) => {
  let host: TestHoldfast
  let root: TestAdministrator
  const people: Visitor[] = []
  const files: Uploaded[] = []
  beforeAll(async () => {
    host = await startHoldfast({ ...GENEROUS, sessionRateLimit: 1_000_000 })
    root = await administrator(host)
    let key = ''
    for (const [at, name] of HOSTILE_NAMES.entries()) {
      if (at % NAMED_FOLDERS === 0) {
        const account = await host.addAccount()
        key = account.apiKey
        people.push(await signedIn(host, account.username))
      }
      const folder = await makeFolder(host, key, { name: name.slice(0, 100) })
      const bytes = textBytes(`${at} ${MARKUP}`)
      const file = await upload(host, { key, folder, name: 'a.txt', bytes })
      expect((await api(host, key, 'PATCH', `/api/v1/file/${file.slug}`, { name })).status).toBe(200)
      const report = { slug: file.slug, reason: 'other', text: MARKUP }
      expect((await caller(host).post('/api/v1/file/report', report)).status).toBeLessThan(300)
      files.push(file)
      // Nobody reports so many within an hour.
      if (files.length % 10 === 0) host.clock.advance(HOUR)
    }
    // One of them stands in the audit log.
    const { slug } = await upload(host, { key, name: 'b.txt', bytes: textBytes('taken down') })
    await api(host, key, 'PATCH', `/api/v1/file/${slug}`, { name: NAMES[0] })
    await root.act('POST', '/take-down', { file: slug })
  }, 120_000)
  afterAll(() => host.stop())

  /** Expects that the canary has not sung on the page as it is now, and that nobody was led away. */
  async function expectSilence(page: Page, trouble: readonly string[]): Promise<void> {
    expect(await page.evaluate('window.fired')).toBeUndefined()
    expect(page.context().pages()).toHaveLength(1)
    expect(trouble).toEqual([])
  }
  /** What runs late has its chance. */
  // A page that draws nothing more may never be told that it is idle.
  const idle = (page: Page) =>
    page.evaluate('new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1000 }))')

  test.each([
    ['the files of everybody', () => root, '/admin/files', '.plain-rows .name', NAMES.toReversed()],
    ['the reports', () => root, '/admin/reports', '.plain-rows .name', NAMES.toReversed()],
    ['the texts of reports', () => root, '/admin/reports', '.report-text', NAMES.map(() => MARKUP)],
    [
      'the audit log',
      () => root,
      '/admin/audit?act=content.taken_down',
      '.plain-rows .plain-words',
      [expect.stringContaining(NAMES[0] ?? 'a name')],
    ],
    [
      'the storage',
      () => people[0],
      '/settings',
      '.parts-list dt',
      NAMES.slice(0, NAMED_FOLDERS).map((name) => name.slice(0, 100)),
    ],
    [
      'the storage of another',
      () => people[1],
      '/settings',
      '.parts-list dt',
      NAMES.slice(NAMED_FOLDERS).map((name) => name.slice(0, 100)),
    ],
  ] as const)('is but text in %s', async (_, who, path, selector, texts) => {
    const person = who()
    if (person === undefined) throw new Error('nobody is signed in')
    // Without the policy, so that it is not what saves us.
    await using visit = await openPageAs(browser(), host.url, person, { bypassCSP: true })
    const { page } = visit
    await page.goto(path)
    await page.locator(selector).first().waitFor()
    expect((await page.locator(selector).allTextContents()).toSorted()).toEqual(texts.toSorted())
    await page.locator(selector).first().hover()
    await idle(page)
    await expectSilence(page, visit.trouble())
    expect(page.url()).toBe(host.url + path)
  })

  test('is but text where a file is reported', async () => {
    await using visit = await openPage(browser(), host.url, { bypassCSP: true })
    const { page } = visit
    for (const [at, { slug }] of files.entries()) {
      await page.goto(`/d/${slug}/report`)
      expect(await page.locator('main bdi').textContent()).toBe(NAMES[at] ?? '')
      await idle(page)
      await expectSilence(page, visit.trouble())
    }
  })

  test.each<readonly [string, () => Promise<string> | string, 'saved' | 'shown']>([
    ['page.html', () => `<!doctype html><html><body onload="${SCRIPT}">${MARKUP}`, 'saved'],
    [
      'page.xhtml',
      () => `<html xmlns="http://www.w3.org/1999/xhtml"><script>${SCRIPT}</script></html>`,
      'saved',
    ],
    ['drawing.svg', () => SVG, 'saved'],
    ['data.xml', () => SVG, 'saved'],
    ['script.js', () => SCRIPT, 'saved'],
    ['document.pdf', async () => Buffer.from(await pdf(['x'], PDF_ACTIONS)).toString('latin1'), 'saved'],
    ['notes.txt', () => `<!doctype html><html><body onload="${SCRIPT}">${MARKUP}`, 'shown'],
    ['picture.png', () => `<!doctype html><html><body onload="${SCRIPT}">${MARKUP}`, 'shown'],
  ])('runs nothing when %s is opened by itself', async (name, content, outcome) => {
    const file = await upload(host, {
      name,
      type: 'text/html',
      bytes: new Uint8Array(Buffer.from(await content(), 'latin1')),
    })
    await using visit = await openPage(browser(), host.url)
    const { page } = visit
    for (const address of [
      await signedAddress(host, file, 'view'),
      `${host.url}/d/${file.slug}?view=1`,
      `${host.url}/d/${file.slug}?download=1`,
    ]) {
      const saved = page.waitForEvent('download').then(() => 'saved' as const)
      const shown = page.waitForEvent('load').then(() => 'shown' as const)
      // A page that does not come because it is saved fails with that.
      await page.goto(address).catch((error: unknown) => {
        if (!String(error).includes('Download is starting')) throw error
      })
      const isDownload = address.endsWith('download=1')
      expect({ address, outcome: await Promise.race([saved, shown]) }).toEqual({
        address,
        outcome: isDownload ? 'saved' : outcome,
      })
      // The page that the browser itself makes around a picture has a style that the policy refuses.
      await expectSilence(
        page,
        visit.trouble().filter((each) => !each.startsWith('console: Applying inline style')),
      )
    }
  })
})
