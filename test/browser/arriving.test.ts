/** The page of a file that is still being uploaded. */
// Only in test:all: test/cluster/downloads/arrivals.test.ts has the same by its interface.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  describeInBrowser,
  faultsInBothColours,
  openPage,
  PHONE,
  pixelsBeside,
  smallTargets,
} from '../support/browser/browser.ts'
import { chance } from '../support/chance.ts'
import { api } from '../support/clients/api.ts'
import { sha256 } from '../support/clients/caller.ts'
import { GENEROUS } from '../support/clients/public.ts'
import { tus } from '../support/clients/tus.ts'
import { startInParts } from '../support/clients/tus-parts.ts'
import { startHoldfast, type TestHoldfast } from '../support/servers/holdfast.ts'

const KIB = 1024

describeInBrowser('the page of an arriving file', (browser) => {
  let host: TestHoldfast
  beforeAll(async () => {
    host = await startHoldfast(GENEROUS)
  })
  afterAll(() => host.stop())

  test('tells how much is here, downloads it as it comes, and becomes the page of the file', async () => {
    const content = chance(93).bytes(300 * KIB)
    const client = tus(api(host))
    const { path, slug, send } = await startInParts(client, content.length, 200 * KIB)
    await using visit = await openPage(browser(), host.url, PHONE)
    const { page } = visit
    await page.goto(`/d/${slug}`)
    await page.getByText('0 B of 300 KB is here.').waitFor()
    expect(await page.getByText('Download it as it arrives').count()).toBe(0)
    // Nothing of the second part can be read before the first is here.
    await send(content, 200 * KIB, 300 * KIB)
    await page.getByText('100 KB of 300 KB is here.').waitFor()
    expect(await page.getByText('Download it as it arrives').count()).toBe(0)
    await send(content, 0, 100 * KIB)
    await page.getByText('200 KB of 300 KB is here.').waitFor()
    expect(await faultsInBothColours(page)).toEqual([])
    expect([await pixelsBeside(page), await smallTargets(page)]).toEqual([0, []])
    const begun = page.waitForEvent('download')
    await page.getByText('Download it as it arrives').tap()
    const download = await begun
    expect(download.suggestedFilename()).toBe('film.mkv')
    await send(content, 100 * KIB, 200 * KIB)
    await client.look(path)
    const saved = await download.path()
    expect(sha256(await Bun.file(saved).bytes())).toBe(sha256(content))
    await page.getByRole('heading', { name: 'film.mkv' }).waitFor()
    expect(visit.trouble()).toEqual([])
  })
})
