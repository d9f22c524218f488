/** Resumable uploads whose node dies or stands still, taken over by another one. */
// Only in test:all: half a minute until a node is taken for dead.
import { expect, test } from 'bun:test'
import { chance } from '../support/chance.ts'
import { readBack, sha256 } from '../support/clients/caller.ts'
import { guestAt, openPatch, type Tus, tus } from '../support/clients/tus.ts'
import { eventually } from '../support/eventually.ts'
import { onSharedServers, sharedInstallation } from '../support/servers/shared-installation.ts'
import { startFaultProxy } from '../support/storage/fault-proxy.ts'
import { unsoundness } from '../support/storage/soundness.ts'

const MIB = 1024 ** 2
const random = chance(92)
/** Milliseconds: half a minute until a node is taken for dead, and then a job's rhythm. */
const PATIENCE = 400_000

/** Where to go on, once the other nodes know that the writer's is dead. */
async function offsetAfterDeath(client: Tus, path: string): Promise<number> {
  let offset = -1
  await eventually(
    'the upload is free',
    async () => {
      const answer = await client.head(path)
      if (answer.status === 423) return false
      expect(answer.status).toBe(200)
      offset = Number(answer.headers.get('upload-offset'))
      return true
    },
    90,
  )
  return offset
}

// Others notice after half a minute; the tests wait for that at the same time.
onSharedServers('a resumable upload', () => {
  test.concurrent(
    'goes on at another node when its own was killed, nothing is mixed, and who downloads it meanwhile has all of it',
    async () => {
      await using installation = await sharedInstallation()
      const [doomed, other] = [await installation.startNode(), await installation.startNode()]
      const content = random.bytes(50 * MIB)
      const { path, slug } = await tus(guestAt(doomed.url)).start(content.length)
      const patch = await openPatch(doomed.url, path, { offset: 0, length: content.length })
      for (let at = 0; at < 30; at++) await patch.send(content.subarray(at * MIB, (at + 1) * MIB))
      const client = tus(guestAt(other.url))
      await eventually('something is recorded', async () => {
        const { body } = await client.look(path)
        return JSON.stringify(body).match(/"received":[1-9]/) !== null
      })
      const follower = await fetch(`${other.url}/d/${slug}?download=1&wait=1`)
      const followed = follower.arrayBuffer()
      await doomed.kill()
      patch.destroy()
      const offset = await offsetAfterDeath(client, path)
      expect(offset).toBeGreaterThan(0)
      expect(offset).toBeLessThanOrEqual(30 * MIB)
      expect((await client.patch(path, offset, content.slice(offset))).status).toBe(204)
      expect(sha256(Buffer.from(await followed))).toBe(sha256(content))
      expect(await readBack(other.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
      await installation.runJobs()
      expect(await unsoundness(installation)).toEqual([])
    },
    PATIENCE,
  )

  test.concurrent(
    'is lost to a node that only stood still, which writes nothing more to it',
    async () => {
      await using installation = await sharedInstallation()
      const [still, other] = [await installation.startNode(), await installation.startNode()]
      const content = random.bytes(40 * MIB)
      const { path, slug } = await tus(guestAt(still.url)).start(content.length)
      const patch = await openPatch(still.url, path, { offset: 0, length: content.length })
      for (let at = 0; at < 20; at++) await patch.send(content.subarray(at * MIB, (at + 1) * MIB))
      process.kill(still.pid, 'SIGSTOP')
      const client = tus(guestAt(other.url))
      const offset = await offsetAfterDeath(client, path)
      const half = Math.max(offset, 30 * MIB)
      expect((await client.patch(path, offset, content.slice(offset, half))).status).toBe(204)
      process.kill(still.pid, 'SIGCONT')
      // It may close the connection after the answer, before the rest has come.
      const rest = (async () => {
        for (let at = 0; at < 20; at++) await patch.send(random.bytes(MIB))
      })().catch(() => {})
      expect([423, 503]).toContain((await patch.answer()).status)
      await rest
      patch.destroy()
      expect(await client.offset(path)).toBe(half)
      expect((await client.patch(path, half, content.slice(half))).status).toBe(204)
      expect(await readBack(other.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
      await installation.runJobs()
      expect(await unsoundness(installation)).toEqual([])
    },
    PATIENCE,
  )

  test.concurrent(
    'that was being joined is joined by another node',
    async () => {
      await using installation = await sharedInstallation()
      await using proxies = new AsyncDisposableStack()
      const proxy = proxies.adopt(await startFaultProxy(installation.settings.S3_ENDPOINT ?? ''), (it) =>
        it.stop(),
      )
      const doomed = await installation.startNode({ S3_ENDPOINT: proxy.url })
      const other = await installation.startNode()
      const client = tus(guestAt(doomed.url))
      const contents = [random.bytes(9 * MIB), random.bytes(3 * MIB)]
      const parts: string[] = []
      for (const content of contents) {
        const { path } = await client.start(content.length, {}, { 'upload-concat': 'partial' })
        expect((await client.patch(path, 0, content)).status).toBe(204)
        parts.push(path)
      }
      proxy.inject({ kind: 'stall' }, { match: ({ method }) => method === 'GET', times: Infinity })
      const answer = await client.create({ 'upload-concat': `final;${parts.join(' ')}` })
      expect(answer).toMatchObject({ status: 201, body: { status: 'processing' } })
      const path = answer.headers.get('location') ?? ''
      expect((await tus(guestAt(other.url)).head(path)).headers.has('upload-offset')).toBe(false)
      await doomed.kill()
      const whole = Buffer.concat(contents)
      await eventually(
        'it is joined',
        async () => (await tus(guestAt(other.url)).head(path)).headers.has('upload-offset'),
        90,
      )
      expect(await tus(guestAt(other.url)).look(path)).toMatchObject({
        body: { status: 'completed', sha256: sha256(whole) },
      })
      await installation.runJobs()
      expect(await unsoundness(installation)).toEqual([])
    },
    PATIENCE,
  )
})
