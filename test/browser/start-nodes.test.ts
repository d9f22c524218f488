/** The start page before several nodes: the one that takes an upload dies, and comes again. */
// Only in test:all: half a minute until a node is taken for dead.
import { expect, test } from 'bun:test'
import { describeInBrowser } from '../support/browser/browser.ts'
import { chosenFile, openStartPage, slugOf } from '../support/browser/start-page.ts'
import { chance } from '../support/chance.ts'
import { readBack, sha256 } from '../support/clients/caller.ts'
import { killableNodes } from '../support/servers/killable-servers.ts'
import { onSharedServers } from '../support/servers/shared-installation.ts'

const MIB = 1024 ** 2
/** The others take a node for dead after half a minute. */
const PATIENCE = 90_000

onSharedServers('on PostgreSQL and S3', () => {
  describeInBrowser('an upload on the start page', (browser) => {
    test('goes on when its node was killed', async () => {
      await using servers = await killableNodes(1)
      const [url = ''] = servers.urls
      const bytes = chance(32).bytes(24 * MIB)
      await using start = await openStartPage(browser(), url)
      start.page.setDefaultTimeout(PATIENCE)
      await start.throttle(6 * MIB)
      await start.choose(chosenFile('film.mkv', bytes))
      const film = start.upload('film.mkv')
      const link = await film.link()
      await film.passes(30)
      await servers.kill(url)
      await start.throttle(null)
      await film.is('done')
      expect(start.requests.filter((request) => request === 'POST')).toHaveLength(1)
      expect(await readBack(url, slugOf(link))).toEqual({ size: bytes.length, sha256: sha256(bytes) })
      await start.page.goto('about:blank')
      expect(await servers.end()).toEqual([])
    }, 400_000)
  })
})
