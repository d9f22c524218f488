/** Uploads by clients as people have them, over lines that break, to servers that are killed. */
import { describe, expect, test } from 'bun:test'
import { readBack, sha256 } from '../support/caller.ts'
import { chance } from '../support/chance.ts'
import { type KillableServers, killableNodes, killableServer } from '../support/killable-servers.ts'
import { onSharedServers } from '../support/shared-installation.ts'
import { guestAt, tus } from '../support/tus.ts'
import { sendByTusJs } from '../support/tus-js.ts'
import { sendByCommandLine } from './bad-line-command.ts'
import { badLineSeed, type Course, overBadLine } from './bad-line-run.ts'

const MIB = 1024 ** 2
const seed = badLineSeed()

async function arrivesByTusJs(servers: KillableServers, course: Course): Promise<void> {
  const content = chance(seed).bytes(course.size)
  const [url = ''] = servers.urls
  const { path, slug } = await tus(guestAt(url)).start(content.length, { filename: 'far.bin' })
  await overBadLine(servers, course, (line) =>
    sendByTusJs(content, { uploadUrl: line + path, chunkSize: 4 * MIB }),
  )
  const whole = { size: content.length, sha256: sha256(content) }
  expect(await tus(guestAt(url)).look(path)).toMatchObject({ body: { status: 'completed', ...whole } })
  expect(await readBack(url, slug)).toEqual(whole)
  expect(await servers.end()).toEqual([])
}

describe('an upload over a bad line', () => {
  test.concurrent('arrives whole by tus-js-client through a hundred cuts and ten kills of the server', async () => {
    await using servers = await killableServer()
    await arrivesByTusJs(servers, { seed, cuts: 100, kills: 10, size: 40 * MIB })
  }, 400_000)

  test.concurrent('arrives whole by the command line through a proxy that takes little at a time', async () => {
    await using servers = await killableServer()
    const size = 40 * MIB
    const content = chance(seed + 1).bytes(size)
    await sendByCommandLine(servers, {
      ...{ seed, cuts: 15, kills: 2, size, largestBody: '1m' },
      async write(path) {
        await Bun.write(path, content)
        return sha256(content)
      },
    })
  }, 400_000)
})

onSharedServers('an upload over a bad line', () => {
  test.concurrent('arrives whole by tus-js-client though nodes are killed, the one at work among them', async () => {
    await using servers = await killableNodes(1)
    await arrivesByTusJs(servers, { seed, cuts: 50, kills: 5, size: 30 * MIB })
  }, 300_000)
})
