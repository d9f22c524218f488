/** Uploads by clients as people have them, over lines that break, to servers that are killed; the long tier cuts more often. */
// Only in test:all: slow lines, and a node that is to be taken for dead.
import { describe, test } from 'bun:test'
import { onSharedServers } from '../support/servers/shared-installation.ts'
import { byCommandLine, byTusJs, byTusJsToNodes } from './bad-line-everyday.ts'
import { badLineSeed } from './bad-line-run.ts'

const seed = badLineSeed()

// Each of these throws unless all of it arrived and nothing else is left.
describe('an upload over a bad line', () => {
  test.concurrent('arrives whole by tus-js-client through fifteen cuts and two kills of the server', async () => {
    await byTusJs({ seed, cuts: 15, kills: 2 })
  }, 400_000)

  test.concurrent('arrives whole by the command line through a proxy that takes little at a time', async () => {
    await byCommandLine({ seed, cuts: 5, kills: 1 })
  }, 400_000)
})

onSharedServers('an upload over a bad line', () => {
  test.concurrent('arrives whole by tus-js-client though nodes are killed, the one at work among them', async () => {
    await byTusJsToNodes({ seed, cuts: 12, kills: 2 })
  }, 300_000)
})
