// Only in test:all: half a minute until a node is taken for dead.
import { expect, test } from 'bun:test'
import { discardBlob } from '../../src/core/blobs.rows.ts'
import { inTransaction } from '../../src/database/transactions.ts'
import { makeBlobKey, systemRandom } from '../../src/domain/random.ts'
import { chance } from '../support/chance.ts'
import { type Caller, caller, readBack, sha256, signedAddress } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import {
  onSharedServers,
  type SharedInstallation,
  sharedInstallation,
} from '../support/servers/shared-installation.ts'
import { keysOf } from '../support/storage/blob-chunks.ts'
import { type ProxiedRequest, startFaultProxy } from '../support/storage/fault-proxy.ts'
import { unsoundness } from '../support/storage/soundness.ts'

const MIB = 1024 ** 2
const random = chance(91)
/** Milliseconds: half a minute until a node is taken for dead, and then a job's rhythm. */
const PATIENCE = 400_000

onSharedServers('a node that is', () => {
  // Others notice after half a minute; both tests wait for that at the same time.
  test.concurrent(
    'killed harms nothing of the others, which end its uploads and take its job over',
    async () => {
      await using installation = await sharedInstallation()
      const db = installation.database
      const store = await installation.store()
      const alice = await installation.addAccount('alice')
      // The store does not answer the node when it removes something, so that its job takes long.
      await using proxies = new AsyncDisposableStack()
      const proxy = proxies.adopt(await startFaultProxy(installation.settings.S3_ENDPOINT ?? ''), (it) =>
        it.stop(),
      )
      const isRemoval = ({ method, path }: ProxiedRequest) => method === 'POST' && /[?&]delete\b/.test(path)
      proxy.inject({ kind: 'stall' }, { match: isRemoval, times: Infinity })

      const doomed = await installation.startNode({ S3_ENDPOINT: proxy.url })
      const { id: doomedId } = await db.selectFrom('nodes').select('id').executeTakeFirstOrThrow()

      // Each batch is waited for, which takes longer than the rest of the preparations.
      const keys = Array.from({ length: 400 }, () => makeBlobKey(systemRandom))
      const [garbage = makeBlobKey(systemRandom)] = keys
      const writer = await store.create(garbage)
      await writer.write(random.bytes(1000))
      await writer.complete()
      await inTransaction(db, async (trx) => {
        for (const key of keys) await discardBlob(trx, key, 0)
      })
      const jobsOf = async (node: string) => {
        const rows = await db.selectFrom('jobs').select(['name', 'node']).execute()
        return rows.filter((row) => row.node === node).map(({ name }) => name)
      }
      await eventually('its job is in the middle', async () =>
        (await jobsOf(doomedId)).includes('remove garbage'),
      )

      const [first, second] = await Promise.all([installation.startNode(), installation.startNode()])
      const [atFirst, atSecond] = [first, second].map(({ url }) => caller(url, alice.apiKey))
      if (atFirst === undefined || atSecond === undefined) throw new Error('there are two')
      const lost = await openUpload(doomed.url, { key: alice.apiKey, name: 'lost.bin', size: 60 * MIB })
      for (let sent = 0; sent < 30; sent++) await lost.send(random.bytes(MIB))
      await eventually('parts of it are in the store', async () => {
        const [reservation] = await db.selectFrom('reservations').select('key').execute()
        const keys = await keysOf(store)
        return reservation !== undefined && keys.includes(reservation.key)
      })
      const content = random.bytes(20 * MIB)
      const others = await othersAtWork(atFirst, atSecond, content)
      expect(await jobsOf(doomedId)).toContain('remove garbage')
      await doomed.kill()
      await expect(lost.answer).rejects.toThrow()
      const { slug } = await others.finish()
      expect(await readBack(second.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })

      await untilEnded(installation, doomedId)
      await eventually('its job is done by another', async () => (await store.size(garbage)) === null, 40)
      expect(await jobsOf(doomedId)).toEqual([])
      await installation.runJobs()
      expect(await unsoundness(installation)).toEqual([])
      for (const node of [first, second]) await node.stop()
    },
    PATIENCE,
  )

  test.concurrent(
    'taken for dead while it stood still refuses what it had begun, and goes on',
    async () => {
      await using installation = await sharedInstallation()
      const db = installation.database
      const alice = await installation.addAccount('alice')
      const still = await installation.startNode()
      const { id } = await db.selectFrom('nodes').select('id').executeTakeFirstOrThrow()
      await using other = await installation.startNode()
      const upload = await openUpload(still.url, { key: alice.apiKey, name: 'ended.bin', size: 30 * MIB })
      for (let sent = 0; sent < 20; sent++) await upload.send(random.bytes(MIB))
      process.kill(still.pid, 'SIGSTOP')
      await untilEnded(installation, id)
      expect((await caller(other.url, alice.apiKey).account()).storage_used).toBe(0)
      process.kill(still.pid, 'SIGCONT')

      // It may close the connection after the answer, before the rest has come.
      const rest = (async () => {
        for (let sent = 0; sent < 10; sent++) await upload.send(random.bytes(MIB))
        await upload.finish()
      })().catch(() => {})
      const { status, headers } = await upload.answer
      await rest
      expect(status).toBe(503)
      expect(headers.get('retry-after')).toMatch(/^\d+$/)
      await eventually('it has joined again', async () => {
        const nodes = await db.selectFrom('nodes').select('id').execute()
        return nodes.length === 2 && nodes.every((node) => node.id !== id)
      })
      const content = random.bytes(100_000)
      const { slug } = await caller(still.url, alice.apiKey).upload(content, 'again.bin')
      expect(await readBack(other.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
      await installation.runJobs()
      expect(await unsoundness(installation)).toEqual([])
    },
    PATIENCE,
  )
})

/** Waits until the node was taken for dead and the uploads that it had begun are ended. */
async function untilEnded({ database: db }: SharedInstallation, node: string): Promise<void> {
  const check = async () => {
    const nodes = await db.selectFrom('nodes').select('id').execute()
    const reservations = await db.selectFrom('reservations').select('key').execute()
    return nodes.every(({ id }) => id !== node) && reservations.length === 0
  }
  await eventually('the others have noticed', check, 60)
}

/** An upload, a download and moves on two nodes, each in its middle; `finish` brings them to their ends. */
async function othersAtWork(first: Caller, second: Caller, content: Uint8Array<ArrayBuffer>) {
  const { slug: read } = await first.upload(content, 'read.bin')
  const half = content.length / 2
  const upload = await openUpload(first.url, { key: first.key, name: 'kept.bin', size: content.length })
  await upload.send(content.subarray(0, half))
  const download = await fetch(await signedAddress(second.url, read))
  const reader = download.body?.getReader()
  if (reader === undefined) throw new Error('there is a body')
  const hash = new Bun.CryptoHasher('sha256')
  const begin = await reader.read()
  if (begin.value !== undefined) hash.update(begin.value)

  return {
    async finish(): Promise<{ slug: string }> {
      const folder = await second.createFolder('folder')
      await first.post('/api/v1/file/move', { file: read, folder })
      await upload.send(content.subarray(half))
      const answer = await upload.finish()
      expect(answer.status).toBe(200)
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        hash.update(value)
      }
      expect(hash.digest('hex')).toBe(sha256(content))
      const files = await second.files()
      expect(files.map(({ name, folder: place }) => `${name} in ${place}`).sort()).toEqual([
        'kept.bin in root',
        `read.bin in ${folder}`,
      ])
      const kept = files.find(({ name }) => name === 'kept.bin')
      return { slug: kept?.slug ?? '' }
    },
  }
}
