/** The start page: what is interrupted goes on, and nothing is sent twice or lost. */
// Only in test:all: slow lines, and browsers and servers that start again.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeInBrowser } from '../support/browser/browser.ts'
import { killableBrowser } from '../support/browser/killable-browser.ts'
import {
  chosenFile,
  fileIn,
  isAlive,
  openStartPage,
  slugOf,
  startPageIn,
} from '../support/browser/start-page.ts'
import { chance } from '../support/chance.ts'
import { readBack, sha256 } from '../support/clients/caller.ts'
import { GENEROUS } from '../support/clients/public.ts'
import { eventually } from '../support/eventually.ts'
import { startSmallBodies } from '../support/network/small-bodies.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import { killableServer } from '../support/servers/killable-servers.ts'

const MIB = 1024 ** 2
/** More than browsers keep of a file for us. */
const LARGE = 66 * MIB

describeInBrowser('an upload on the start page', (browser) => {
  let holdfast: TestHoldfast
  const random = chance(31)
  const open = (options = {}) => openStartPage(browser(), holdfast.url, options)
  const stored = (link: string) => readBack(new URL(link).origin, slugOf(link))
  const whole = (bytes: Uint8Array) => ({ size: bytes.length, sha256: sha256(bytes) })
  beforeAll(async () => {
    holdfast = await startHoldfast(GENEROUS)
  })
  afterAll(() => holdfast.stop())

  test('of a small file goes on by itself when the page is loaded again', async () => {
    await using start = await open()
    const bytes = random.bytes(4 * MIB)
    await start.throttle(MIB)
    await start.choose(chosenFile('film.mkv', bytes))
    const film = start.upload('film.mkv')
    const link = await film.link()
    await film.passes(40)
    const before = start.requests.length
    await start.page.reload()
    await start.throttle(null)
    await film.is('done')
    expect(await film.link()).toBe(link)
    expect(start.requests.slice(before)).toContainEqual(expect.stringMatching(/^PATCH [1-9]/))
    expect(start.requests.slice(before)).not.toContain('POST')
    expect(await stored(link)).toEqual(whole(bytes))
    await start.page.reload()
    await film.is('done')
    expect(await film.link()).toBe(link)
  })

  test('that was paused stays so when the page is loaded again', async () => {
    await using start = await open()
    await start.throttle(MIB)
    await start.choose(chosenFile('film.mkv', random.bytes(3 * MIB)))
    const film = start.upload('film.mkv')
    await film.passes(10)
    await film.press('Pause')
    await film.is('paused')
    await eventually('that is kept', async () => (await start.kept()).includes('"isPaused":true'))
    await start.throttle(null)
    await start.page.goto('about:blank')
    await start.page.goto('/')
    await film.is('paused')
    await film.press('Resume')
    await film.is('done')
  })

  test('of a large file goes on by a click where the browser can find the file again', async () => {
    await using start = await open()
    // A real handle of a real file; only the question to the person is answered by the test.
    await start.page.addInitScript({ content: handleOfLargeFile(LARGE) })
    await start.page.goto('/')
    await isAlive(start.page)
    await start.throttle(12 * MIB)
    await start.page.getByRole('button', { name: 'Choose files' }).click()
    const film = start.upload('film.mkv')
    const link = await film.link()
    await film.passes(20)
    await eventually('that is kept', async () => (await start.kept()).includes(link))
    await start.page.goto('about:blank')
    await start.page.goto('/')
    await film.is('interrupted')
    await start.throttle(null)
    const before = start.requests.length
    await film.press('Continue')
    await film.is('done')
    expect(start.requests.slice(before)).toContainEqual(expect.stringMatching(/^PATCH [1-9]/))
    expect(await film.link()).toBe(link)
    expect(await stored(link)).toMatchObject({ size: LARGE })
  })

  test('of a small file goes on by itself after a crash of the browser', async () => {
    await using person = killableBrowser(holdfast.url)
    const first = await startPageIn(await person.open())
    const bytes = random.bytes(6 * MIB)
    await first.throttle(MIB)
    await first.choose(chosenFile('film.mkv', bytes))
    const link = await first.upload('film.mkv').link()
    await first.upload('film.mkv').passes(20)
    await eventually('its link is kept', async () => (await first.kept()).includes(link))
    await eventually('the file is kept', async () => (await first.keptFiles()) === 1)
    await person.kill()
    const next = await startPageIn(await person.open())
    const film = next.upload('film.mkv')
    await film.is('done')
    expect(await film.link()).toBe(link)
    expect(next.requests).toContainEqual(expect.stringMatching(/^PATCH [1-9]/))
    expect(next.requests).not.toContain('POST')
    expect(await stored(link)).toEqual(whole(bytes))
  })

  test('of a large file asks for the same file once after a crash of the browser', async () => {
    using folder = temporaryFolder()
    await using person = killableBrowser(holdfast.url)
    const first = await startPageIn(await person.open())
    const bytes = random.bytes(LARGE)
    const path = await fileIn(folder.path, 'film.mkv', bytes)
    await first.throttle(12 * MIB)
    await first.choose(path)
    const link = await first.upload('film.mkv').link()
    await first.upload('film.mkv').passes(20)
    await eventually('its link is kept', async () => (await first.kept()).includes(link))
    await person.kill()
    const next = await startPageIn(await person.open())
    const film = next.upload('film.mkv')
    await film.is('interrupted')
    expect(await film.row.textContent()).toContain('Choose the same file again')
    await film.row.locator('input[type="file"]').setInputFiles(path)
    await film.is('done')
    expect(await film.link()).toBe(link)
    expect(next.requests).toContainEqual(expect.stringMatching(/^PATCH [1-9]/))
    expect(next.requests).not.toContain('POST')
    expect(await stored(link)).toEqual(whole(bytes))
  })

  test('waits for the network and goes on by itself', async () => {
    await using start = await open()
    const bytes = random.bytes(6 * MIB)
    await start.throttle(MIB)
    await start.choose(chosenFile('film.mkv', bytes))
    const film = start.upload('film.mkv')
    await film.passes(30)
    await start.page.context().setOffline(true)
    await film.is('waiting')
    expect(await film.row.textContent()).toContain('You are offline.')
    expect(await start.page.locator('.panel-head h1').textContent()).toBe('1 upload is waiting')
    await start.page.context().setOffline(false)
    await start.throttle(null)
    await film.is('done')
    expect(start.requests.filter((request) => request === 'POST')).toHaveLength(1)
    expect(await stored(await film.link())).toEqual(whole(bytes))
  })

  test('gets through a proxy that refuses large bodies, and remembers how', async () => {
    const proxy = await startSmallBodies(holdfast.url, MIB, 'answers 413')
    await using start = await openStartPage(browser(), proxy.url)
    const bytes = random.bytes(5 * MIB + 1)
    await start.choose(chosenFile('film.mkv', bytes))
    const film = start.upload('film.mkv')
    await film.is('done')
    expect(await stored(await film.link())).toEqual(whole(bytes))
    const refused = proxy.refused()
    expect(refused).toBeGreaterThan(0)
    await start.page.reload()
    await isAlive(start.page)
    await start.choose(chosenFile('more.mkv', bytes))
    await start.upload('more.mkv').is('done')
    expect(proxy.refused()).toBe(refused)
    await proxy.stop()
  })

  test('gets through a proxy that closes the connection on large bodies', async () => {
    const proxy = await startSmallBodies(holdfast.url, MIB, 'closes')
    const start = await openStartPage(browser(), proxy.url)
    const bytes = random.bytes(1.5 * MIB)
    await start.choose(chosenFile('film.mkv', bytes))
    const film = start.upload('film.mkv')
    await film.is('done')
    expect(proxy.refused()).toBeGreaterThan(0)
    expect(await stored(await film.link())).toEqual(whole(bytes))
    await start[Symbol.asyncDispose]()
    await proxy.stop()
  })

  test('that uses up the limit of the hour says when it goes on', async () => {
    const strict = await startHoldfast({ guestRateLimit: 2 })
    const start = await openStartPage(browser(), strict.url)
    await start.choose(chosenFile('a.txt', Buffer.from('a')))
    await start.upload('a.txt').is('done')
    await start.choose(chosenFile('b.txt', Buffer.from('b')))
    const next = start.upload('b.txt')
    await next.is('waiting')
    expect(await next.row.textContent()).toMatch(
      /You have reached the upload limit of this hour\..* at \d+:\d+/,
    )
    await start[Symbol.asyncDispose]()
    await strict.stop()
  })

  test('that the server gives up each time, a repeat without memory, is sent three times and no more', async () => {
    await using start = await open()
    const gone = { success: false, message: 'gone', error: 'UPLOAD_GONE' }
    await start.page.route('**/api/v1/uploads/*', async (route) => {
      if (route.request().method() === 'PATCH') await route.fulfill({ status: 410, json: gone })
      else await route.continue()
    })
    await start.choose(chosenFile('film.mkv', random.bytes(MIB)))
    const film = start.upload('film.mkv')
    await film.row.page().locator('.upload[data-state="failed"]').waitFor({ timeout: 60_000 })
    expect(await film.row.textContent()).toContain('its storage refuses it')
    expect(start.requests.filter((request) => request === 'POST')).toHaveLength(3)
    expect(start.requests.filter((request) => request.startsWith('PATCH'))).toHaveLength(3)
    // The next page does not begin anew by itself.
    await start.page.goto('about:blank')
    await start.page.goto('/')
    await film.is('paused')
    expect(start.requests.filter((request) => request === 'POST')).toHaveLength(3)
  }, 120_000)

  test('outlives the server’s being killed', async () => {
    await using servers = await killableServer()
    await using start = await openStartPage(browser(), servers.urls[0] ?? '')
    const bytes = random.bytes(24 * MIB)
    await start.throttle(6 * MIB)
    await start.choose(chosenFile('film.mkv', bytes))
    const film = start.upload('film.mkv')
    const link = await film.link()
    await film.passes(30)
    await servers.kill('')
    await start.throttle(null)
    await film.is('done')
    expect(start.requests.filter((request) => request === 'POST')).toHaveLength(1)
    expect(await stored(link)).toEqual(whole(bytes))
    await start.page.goto('about:blank')
    expect(await servers.end()).toEqual([])
  })
})

/** Makes the picker of the page give a file of the browser's own file system, which is asked about again each time. */
function handleOfLargeFile(size: number): string {
  return `window.showOpenFilePicker = async () => {
    const folder = await navigator.storage.getDirectory()
    const handle = await folder.getFileHandle('film.mkv', { create: true })
    const writer = await handle.createWritable()
    for (let left = ${size}; left > 0; left -= 2 ** 20) await writer.write(new Uint8Array(Math.min(left, 2 ** 20)))
    await writer.close()
    return [handle]
  }
  FileSystemHandle.prototype.queryPermission = async () => 'prompt'
  FileSystemHandle.prototype.requestPermission = async () => 'granted'`
}
