/** Resumable uploads from a page of another origin, in a real browser, that is closed in the middle. */
// Only in test:all: test/server/client/tus-js.test.ts has the same library.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { describeInBrowser } from '../support/browser/browser.ts'
import { uploadRequests } from '../support/browser/start-page.ts'
import { chance } from '../support/chance.ts'
import { api } from '../support/clients/api.ts'
import { readBack, sha256, uploadResult } from '../support/clients/caller.ts'
import { GENEROUS } from '../support/clients/public.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'
import type { Told } from './told.ts'

const MIB = 1024 ** 2
const SIZE = 24 * MIB
/** Bytes a second, so that there is a middle. */
const LINE = 12 * MIB

describeInBrowser('a page of another origin', (browser) => {
  let holdfast: TestHoldfast
  let pages: Bun.Server<undefined>
  beforeAll(async () => {
    holdfast = await startHoldfast(GENEROUS)
    pages = servePage(await bundle())
  })
  afterAll(async () => {
    await pages.stop(true)
    await holdfast.stop()
  })

  test('goes on where it was when it was loaded again, and all arrives', async () => {
    using folder = temporaryFolder()
    const content = chance(12).bytes(SIZE)
    const path = join(folder.path, 'holiday.bin')
    await Bun.write(path, content)
    const { apiKey } = await holdfast.addAccount()
    const asked = { endpoint: `${holdfast.url}/api/v1/uploads`, key: apiKey }

    const page = await browser().newPage()
    const told: Told[] = []
    const requests = uploadRequests(page)
    await page.exposeFunction('tell', (event: Told) => void told.push(event))
    const network = await page.context().newCDPSession(page)
    await network.send('Network.enable')
    await network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: LINE,
    })
    const pick = async () => {
      await eventually('the page is ready', () => told.some(({ kind }) => kind === 'ready'))
      await page.setInputFiles('input', path)
    }
    await page.goto(`${pages.url.href}?${new URLSearchParams(asked)}`)
    await pick()
    const stop = SIZE * (0.1 + Math.random() * 0.4)
    await eventually('enough is sent', () => told.some((it) => it.kind === 'sent' && it.bytes > stop))
    expect(told.some(({ kind }) => kind === 'done')).toBe(false)
    told.length = 0
    requests.length = 0
    await page.reload()
    await pick()
    await eventually('all is sent', () => told.some(({ kind }) => kind === 'done' || kind === 'failed'))

    const [end] = told.filter((it) => it.kind === 'done')
    expect(told).toContainEqual({ kind: 'done', url: expect.any(String) })
    expect({ stop, requests }).toEqual({ stop, requests: ['HEAD', expect.stringMatching(/^PATCH [1-9]/)] })
    const answer = await api(holdfast, apiKey).get(new URL(end?.url ?? '').pathname)
    const whole = { size: SIZE, sha256: sha256(content) }
    expect(answer.body).toMatchObject({ status: 'completed', ...whole })
    expect(await readBack(holdfast.url, uploadResult.parse(answer.body).slug)).toEqual(whole)
    await page.close()
  }, 120_000)
})

async function bundle(): Promise<string> {
  const built = await Bun.build({ entrypoints: [join(import.meta.dir, 'page/page.ts')], target: 'browser' })
  const [script] = built.outputs
  if (script === undefined) throw new Error('the page was not bundled')
  return script.text()
}

function servePage(script: string): Bun.Server<undefined> {
  const html = (body: string) =>
    new Response(body, { headers: { 'content-type': 'text/html; charset=utf-8' } })
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      new URL(url).pathname === '/page.js'
        ? new Response(script, { headers: { 'content-type': 'text/javascript' } })
        : html(
            '<!doctype html><title>Upload</title><input type="file"><script type="module" src="page.js"></script>',
          ),
  })
}
