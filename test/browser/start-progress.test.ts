/** The start page while files go up: how far they are, how fast, and all of them at once. */
// Only in test:all: slow lines.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { describeInBrowser, readElements } from '../support/browser/browser.ts'
import { chosenFile, fileIn, openStartPage, type StartPage, slugOf } from '../support/browser/start-page.ts'
import { chance } from '../support/chance.ts'
import { readBack, sha256 } from '../support/clients/caller.ts'
import { GENEROUS } from '../support/clients/public.ts'
import { eventually } from '../support/eventually.ts'
import { startLongLine } from '../support/network/long-line.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { type ProxiedRequest, startFaultProxy } from '../support/storage/fault-proxy.ts'

const MIB = 1024 ** 2
const NAMES = ['a.bin', 'b.bin', 'c.bin', 'd.bin']

describeInBrowser('the start page while files go up', (browser) => {
  let holdfast: TestHoldfast
  const random = chance(33)
  beforeAll(async () => {
    holdfast = await startHoldfast(GENEROUS)
  })
  afterAll(() => holdfast.stop())

  const states = ({ page }: StartPage) => readElements(page, '.upload', 'it.dataset.state', z.string())
  const areAll = (start: StartPage, ...wanted: readonly string[]) =>
    eventually(`they are ${wanted.join(', ')}`, async () => Bun.deepEquals(await states(start), wanted))

  test('tells how fast a file goes, and how long it will take', async () => {
    await using start = await openStartPage(browser(), holdfast.url)
    await start.throttle(MIB / 2)
    await start.choose(chosenFile('film.mkv', random.bytes(12 * MIB)))
    const told = start.upload('film.mkv').row.locator('.upload-state')
    await told
      .filter({ hasText: /^[\d.]+ [KM]B of 12 MB · [\d.]+ [KM]B\/s · about \d\d seconds left$/ })
      .waitFor()
    await start.throttle(null)
    await start.upload('film.mkv').is('done')
    expect(await told.textContent()).toBe('12 MB, safe on the server')
    expect(start.trouble()).toEqual([])
  })

  test('sends three of many at once, tells how far all are, and stops and goes on with all of them', async () => {
    await using start = await openStartPage(browser(), holdfast.url)
    const { page } = start
    const contents = new Map(NAMES.map((name) => [name, random.bytes(2 * MIB)]))
    // So slow that the first is not done before the third has begun, however busy the machine is.
    await start.throttle(MIB / 4)
    await start.choose(...[...contents].map(([name, bytes]) => chosenFile(name, bytes)))
    await areAll(start, 'sending', 'sending', 'sending', 'queued')
    const bar = page.getByRole('progressbar', { name: 'All files together' })
    const share = async () => Number(await bar.getAttribute('aria-valuenow'))
    // More than what may still be on its way to a busy server, which keeps what has come when the sender stops.
    await eventually('some of all has gone off', async () => (await share()) > 25)
    const together = page.locator('.panel-told')
    await together.filter({ hasText: /^[\d.]+ [KM]B of 8 MB · [\d.]+ [KM]B\/s · (about|a few) / }).waitFor()
    expect(await page.locator('.panel-head h1').textContent()).toMatch(/^Uploading 4 files · \d+%$/)

    await page.getByRole('button', { name: 'Pause all' }).click()
    await areAll(start, 'paused', 'paused', 'paused', 'paused')
    expect(await bar.count()).toBe(0)
    const before = start.requests.length
    await start.throttle(null)
    await page.getByRole('button', { name: 'Resume all' }).click()
    await areAll(start, 'done', 'done', 'done', 'done')
    const after = start.requests.slice(before)
    expect(after.filter((request) => /^PATCH [1-9]/.test(request)).length).toBeGreaterThan(0)
    expect(after).not.toContain('POST')
    expect(await page.locator('.panel-head h1').textContent()).toBe('4 files are safe on the server')
    for (const [name, bytes] of contents) {
      const stored = await readBack(holdfast.url, slugOf(await start.upload(name).link()))
      expect(stored).toEqual({ size: bytes.length, sha256: sha256(bytes) })
    }
    expect(start.trouble()).toEqual([])
  })

  test('sends a large file over one connection, also on a long line, and goes on with it after a reload', async () => {
    const bytes = random.bytes(66 * MIB)
    const proxy = await startFaultProxy(holdfast.url)
    const line = await startLongLine(proxy.url, { roundTrip: 50, rate: 24_000_000 })
    const isChunk = ({ method }: ProxiedRequest) => method === 'PATCH'
    try {
      using folder = temporaryFolder()
      const path = await fileIn(folder.path, 'film.mkv', bytes)
      const other = await fileIn(folder.path, 'other.mkv', random.bytes(1000))
      await using start = await openStartPage(browser(), line.url)
      proxy.inject({ kind: 'cut-request', after: 20 * MIB }, { match: isChunk })
      proxy.inject({ kind: 'stall' }, { match: isChunk, times: Infinity })
      await start.choose(path)
      const film = start.upload('film.mkv')
      const link = await film.link()
      await eventually(
        'it goes on at what has come',
        () => start.requests.filter((each) => each.startsWith('PATCH')).length === 2,
      )
      await eventually('that is kept', async () => (await start.kept()).includes(link))
      expect(start.requests.slice(0, 2)).toEqual(['POST', 'PATCH 0'])
      expect(line.widest()).toBe(1)

      const before = start.requests.length
      await start.page.reload()
      await film.is('interrupted')
      // At first it stands where the browser last noted it; then the server says how far it is.
      await film.row.getByText(/Interrupted at [1-9]\d?%\. Choose the same file again/).waitFor()
      const field = film.row.locator('input[type="file"]')
      await field.setInputFiles(other)
      await film.row.getByText('This is another file: “other.mkv” has 1,000 B.').waitFor()
      proxy.heal()
      await field.setInputFiles(path)
      await film.is('done')
      expect(start.requests.slice(before)).not.toContain('POST')
      expect(await film.link()).toBe(link)
      expect(await readBack(holdfast.url, slugOf(link))).toEqual({
        size: bytes.length,
        sha256: sha256(bytes),
      })
    } finally {
      await line.stop()
      await proxy.stop()
    }
  })

  test('takes two requests for each of many small files', async () => {
    await using start = await openStartPage(browser(), holdfast.url)
    const names = Array.from({ length: 30 }, (_, at) => `${at}.txt`)
    await start.choose(...names.map((name) => chosenFile(name, random.bytes(1000))))
    await start.page.getByRole('heading', { name: '30 files are safe on the server' }).waitFor()
    expect(start.requests.toSorted()).toEqual([...names.map(() => 'PATCH 0'), ...names.map(() => 'POST')])
    expect(start.trouble()).toEqual([])
  })

  test('does not begin more files than a slow line sends, of which the server would refuse some', async () => {
    await using start = await openStartPage(browser(), holdfast.url)
    await start.throttle(1000)
    const names = Array.from({ length: 120 }, (_, at) => `${at}.txt`)
    await start.choose(...names.map((name) => chosenFile(name, random.bytes(2000))))
    await start.page.locator('.upload-link').nth(49).waitFor()
    await Bun.sleep(1500)
    expect(start.requests.filter((request) => request === 'POST').length).toBeLessThan(60)
    await start.throttle(null)
    await start.page.getByRole('heading', { name: '120 files are safe on the server' }).waitFor()
    expect(start.trouble()).toEqual([])
  }, 120_000)
})
