/** PostgreSQL and the store stand still as wholes: connections stay open, and nothing is answered. */
// Only in test:all: a database and a store of its own; silence.test.ts has the rule.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { sql } from 'kysely'
import { chance } from '../support/chance.ts'
import { type Caller, caller, readBack, sha256, signedAddress } from '../support/clients/caller.ts'
import { guestAt, metadata, TUS, tus } from '../support/clients/tus.ts'
import { startLoad } from '../support/clients/upload-load.ts'
import { type PostgresServer, startPostgres } from '../support/databases/postgres.ts'
import { eventually } from '../support/eventually.ts'
import type { ChildAccount, ChildServer } from '../support/processes/child.ts'
import { openFiles } from '../support/processes/open-files.ts'
import {
  onSharedServers,
  type SharedInstallation,
  sharedInstallation,
} from '../support/servers/shared-installation.ts'
import { type Ceph, startCeph } from '../support/storage/ceph.ts'
import { roomGivenBack, unsoundness } from '../support/storage/soundness.ts'

const MIB = 1024 ** 2
/** The promise: whatever needs what stands still is refused within so many milliseconds. */
const PROMISED = 10_000
/** What a node may take more for a thousand requests that wait, in bytes. */
const MEMORY = 250 * MIB

const random = chance(170)

onSharedServers('while what a node depends on stands still', () => {
  const open = new AsyncDisposableStack()
  let postgres: PostgresServer
  let ceph: Ceph
  let installation: SharedInstallation
  let account: ChildAccount
  let node: ChildServer
  let alice: Caller

  beforeAll(async () => {
    ;[postgres, ceph] = await Promise.all([startPostgres(), startCeph()])
    const services = { postgres, ceph }
    open.defer(async () => {
      services.ceph.resume()
      await services.postgres.stop()
      await services.ceph.stop()
    })
    installation = open.use(await sharedInstallation({ databaseUrl: postgres.url, endpoint: ceph }))
    account = await installation.addAccount('alice')
    node = await installation.startNode()
    alice = caller(node.url, account.apiKey)
  })
  afterAll(() => open.disposeAsync())

  const key = () => ({ authorization: `Bearer ${account.apiKey}` })
  const soon = (path: string, init: RequestInit = {}) =>
    fetch(path.startsWith('http') ? path : `${node.url}${path}`, {
      ...init,
      redirect: 'manual',
      keepalive: false,
      signal: AbortSignal.timeout(PROMISED),
    })

  function form(content: Uint8Array<ArrayBuffer>): RequestInit {
    const body = new FormData()
    body.set('file', new File([content], 'refused.bin'))
    return { method: 'POST', headers: key(), body }
  }

  /** A file with what leads to it, and an upload under way. */
  async function setting() {
    const content = random.bytes(200_000)
    const { slug } = await alice.upload(content, 'kept.bin')
    const large = await alice.upload(random.bytes(20 * MIB), 'large.bin')
    const addresses = [
      await signedAddress(node.url, slug),
      await signedAddress(node.url, large.slug),
    ] as const
    const uploads = tus(guestAt(node.url))
    const { path } = await uploads.start(9 * MIB, { filename: 'tus.bin' }, key())
    expect((await uploads.patch(path, 0, random.bytes(MIB), key())).status).toBe(204)
    return { slug, content, addresses, path, uploads }
  }
  type Setting = Awaited<ReturnType<typeof setting>>

  const needingBytes = ({ addresses, path }: Setting): Readonly<Record<string, () => Promise<Response>>> => ({
    'a download': () => soon(addresses[0]),
    'a range': () => soon(addresses[0], { headers: { range: 'bytes=100-199' } }),
    'a large download': () => soon(addresses[1]),
    'a small upload': () => soon('/api/v1/upload', form(random.bytes(1000))),
    'an upload in one part': () => soon('/api/v1/upload', form(random.bytes(2 * MIB))),
    'an upload in several parts': () => soon('/api/v1/upload', form(random.bytes(20 * MIB))),
    'bytes of a resumable upload': () =>
      soon(path, {
        method: 'PATCH',
        headers: {
          ...key(),
          ...TUS,
          'upload-offset': String(MIB),
          'content-type': 'application/offset+octet-stream',
        },
        body: random.bytes(MIB),
      }),
    readiness: () => soon('/ready'),
  })

  const needingRows = ({ slug, path }: Setting): Readonly<Record<string, () => Promise<Response>>> => ({
    'a list': () => soon('/api/v1/files', { headers: key() }),
    folders: () => soon('/api/v1/folders', { headers: key() }),
    'the account of a key': () => soon('/api/v1/account', { headers: key() }),
    'the page of a file': () => soon(`/d/${slug}`),
    'the beginning of a resumable upload': () =>
      soon('/api/v1/uploads', {
        method: 'POST',
        headers: {
          ...key(),
          ...TUS,
          'upload-length': '100',
          'upload-metadata': metadata({ filename: 'a.bin' }),
        },
      }),
    'the offset of a resumable upload': () => soon(path, { method: 'HEAD', headers: { ...key(), ...TUS } }),
    'signing in': () =>
      soon('/sign-in', {
        method: 'POST',
        headers: { origin: node.url, 'content-type': 'application/x-www-form-urlencoded' },
        body: 'username=alice&password=something+long',
      }),
  })

  /** What was not refused as it should be; empty when all is well. */
  async function unrefused(asks: Readonly<Record<string, () => Promise<Response>>>): Promise<string[]> {
    const ends = await Promise.all(
      Object.entries(asks).map(async ([what, ask]) => {
        try {
          const response = await ask()
          const wait = response.headers.get('retry-after')
          await response.body?.cancel()
          const isFine = response.status === 503 && /^\d+$/.test(wait ?? '')
          return isFine ? [] : [`${what}: ${response.status}, Retry-After ${wait}`]
        } catch (error) {
          return [`${what}: ${error}`]
        }
      }),
    )
    return ends.flat()
  }

  const sockets = () => openFiles(node.pid).filter((target) => target.startsWith('socket:')).length
  const memory = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${node.pid}/status`, 'utf8'))?.[1]) * 1024

  /** Status of the answer to a GET by a connection of its own; 0 for none. */
  function statusOf(path: string): Promise<number> {
    const { hostname, port } = new URL(node.url)
    const { promise, resolve } = Promise.withResolvers<number>()
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)))
    const more = `Host: ${hostname}:${port}\r\nAuthorization: Bearer ${account.apiKey}\r\nConnection: close\r\n\r\n`
    socket.write(`GET ${path} HTTP/1.1\r\n${more}`)
    setTimeout(() => socket.destroy(), PROMISED)
    return promise
  }

  async function thousandRefused(path: string): Promise<void> {
    const statuses = await Promise.all(Array.from({ length: 1000 }, () => statusOf(path)))
    expect(statuses.filter((status) => status !== 503)).toEqual([])
  }

  async function expectWorking({ slug, content, path, uploads }: Setting): Promise<void> {
    await eventually('it is ready again', async () => (await soon('/ready')).ok, 10)
    expect(await readBack(node.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
    // What came of the refused bytes is whole, or not there.
    const at = Number((await uploads.head(path, key())).headers.get('upload-offset'))
    expect([MIB, 2 * MIB]).toContain(at)
    expect((await uploads.patch(path, at, random.bytes(9 * MIB - at), key())).status).toBe(204)
    const again = random.bytes(100_000)
    const stored = await alice.upload(again, 'again.bin')
    expect(await readBack(node.url, stored.slug)).toEqual({ size: again.length, sha256: sha256(again) })
  }

  test('PostgreSQL: whatever needs rows is 503 within ten seconds, and all works when it goes on', async () => {
    const there = await setting()
    const sound = { sockets: sockets(), memory: memory() }
    postgres.pause()
    try {
      expect(await unrefused({ ...needingRows(there), ...needingBytes(there) })).toEqual([])
      expect((await soon('/health')).status).toBe(200)
      await thousandRefused('/api/v1/files')
      expect(memory() - sound.memory).toBeLessThan(MEMORY)
      expect(await unrefused({ ...needingRows(there), ...needingBytes(there) })).toEqual([])
    } finally {
      postgres.resume()
    }
    await expectWorking(there)
    await eventually('no connection is left', () => sockets() <= sound.sockets + 25)
  })

  test('PostgreSQL: uploads that were answered are there, and of the others nothing half-done', async () => {
    const load = startLoad({
      nodes: [node.url],
      key: account.apiKey,
      clients: 8,
      sizes: [10, 100_000, 9 * MIB],
      random: chance(171),
    })
    const stored = () => load.attempts.filter(({ answer }) => answer?.status === 200).length
    await eventually('files are stored', () => stored() > 8)
    postgres.pause()
    try {
      await eventually(
        'uploads are refused',
        () => load.attempts.some(({ answer }) => answer?.status === 503),
        15,
      )
      await thousandRefused('/api/v1/files')
    } finally {
      postgres.resume()
    }
    const before = stored()
    await eventually('files are stored again', () => stored() > before + 8)
    await load.stop()
    const odd = load.attempts.filter(({ answer }) => answer?.status !== 200 && answer?.status !== 503)
    expect(odd).toEqual([])
    for (const { answer, size, sha256: sum } of load.attempts) {
      if (typeof answer?.slug === 'string')
        expect(await readBack(node.url, answer.slug)).toEqual({ size, sha256: sum })
    }
    await roomGivenBack(installation)
    await installation.runJobs()
    expect(await unsoundness(installation)).toEqual([])
  })

  test('PostgreSQL: a statement that takes longer than any silence may is answered', async () => {
    const { rows } = await sql`select 'done' as state from pg_sleep(8)`.execute(installation.database)
    expect(rows).toEqual([{ state: 'done' }])
  })

  test('the store: whatever needs bytes is 503 within ten seconds, and all works when it goes on', async () => {
    const there = await setting()
    const sound = { sockets: sockets(), memory: memory() }
    ceph.pause()
    try {
      expect(await unrefused(needingBytes(there))).toEqual([])
      expect((await soon('/health')).status).toBe(200)
      await thousandRefused(new URL(there.addresses[0]).pathname + new URL(there.addresses[0]).search)
      expect(memory() - sound.memory).toBeLessThan(MEMORY)
      for (const [what, ask] of Object.entries(needingRows(there))) {
        // One that is begun would be left.
        if (what === 'the beginning of a resumable upload') continue
        const { status } = await ask()
        expect([what, status >= 500]).toEqual([what, false])
      }
      expect(await unrefused(needingBytes(there))).toEqual([])
    } finally {
      ceph.resume()
    }
    await expectWorking(there)
    await eventually('no connection is left', () => sockets() <= sound.sockets + 25)
    await installation.runJobs()
    expect(await unsoundness(installation)).toEqual([])
  })
})
