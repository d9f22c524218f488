// Only in test:all: retries, further and further apart.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { chance } from '../support/chance.ts'
import { type Caller, caller, readBack, sha256, signedAddress } from '../support/clients/caller.ts'
import { eventually } from '../support/eventually.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import type { ChildAccount, ChildServer } from '../support/processes/child.ts'
import {
  onSharedServers,
  type SharedInstallation,
  sharedInstallation,
} from '../support/servers/shared-installation.ts'
import type { Fault } from '../support/storage/fault-connection.ts'
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from '../support/storage/fault-proxy.ts'
import { unsoundness } from '../support/storage/soundness.ts'

const MIB = 1024 ** 2
const random = chance(77)

const outages: [string, Fault][] = [
  ['cuts every connection', { kind: 'cut' }],
  ['answers 500', { kind: 'answer', status: 500, code: 'InternalError' }],
  ['answers 503', { kind: 'answer', status: 503, code: 'SlowDown' }],
  ['never answers', { kind: 'stall' }],
]

const isRead = ({ method, path }: ProxiedRequest) => method === 'GET' && path.includes('/blobs/')

onSharedServers('a node whose store', () => {
  const open = new AsyncDisposableStack()
  let installation: SharedInstallation
  let proxy: FaultProxy
  let account: ChildAccount
  let node: ChildServer
  let alice: Caller

  beforeAll(async () => {
    installation = open.use(await sharedInstallation())
    account = await installation.addAccount('alice')
    proxy = open.adopt(await startFaultProxy(installation.settings.S3_ENDPOINT ?? ''), (it) => it.stop())
    node = await installation.startNode({ S3_ENDPOINT: proxy.url })
    alice = caller(node.url, account.apiKey)
  })
  afterEach(() => proxy.heal())
  afterAll(() => open.disposeAsync())

  const raw = (name: string, size: number) => openUpload(node.url, { key: account.apiKey, name, size })

  /** What a client is told that needs the store. */
  async function expectRefused(asking: Promise<{ status: number; headers: Headers }>): Promise<void> {
    const { status, headers } = await asking
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
  }

  async function uploadWhole(
    content: Uint8Array<ArrayBuffer>,
  ): Promise<{ status: number; headers: Headers }> {
    const upload = await raw('refused.bin', content.length)
    await upload.send(content)
    return upload.finish()
  }

  test.each(outages)(
    '%s goes on with all that needs no bytes, and with the rest when it is back',
    async (_, fault) => {
      const content = random.bytes(200_000)
      const kept = await alice.upload(content, 'kept.bin')
      const gone = await alice.upload(random.bytes(1000), 'gone.bin')
      const address = await signedAddress(node.url, kept.slug)
      const folder = await alice.createFolder(`folder ${fault.kind} ${random.whole(0, 1e9)}`)
      proxy.inject(fault, { times: Number.POSITIVE_INFINITY })

      // An upload waits for a silent store for more than a minute, which is left to the suite of the store itself.
      const uploads = fault.kind === 'stall' ? [] : [100_000, 9 * MIB]
      const needing = Promise.all([
        ...uploads.map((size) => expectRefused(uploadWhole(random.bytes(size)))),
        expectRefused(fetch(address)),
        expectRefused(fetch(address, { headers: { range: 'bytes=100-199' } })),
        eventually('it is not ready', async () => {
          const ready = await fetch(`${node.url}/ready`)
          if (ready.status === 200) return false
          expect(await ready.json()).toMatchObject({ database: 'ok', store: 'down' })
          return ready.status === 503 && ready.headers.has('retry-after')
        }),
      ])
      expect((await fetch(`${node.url}/health`)).status).toBe(200)
      expect((await alice.files()).map(({ slug }) => slug)).toContain(kept.slug)
      await alice.post('/api/v1/file/move', { file: kept.slug, folder })
      expect((await alice.detail(kept.slug)).sha256).toBe(kept.sha256)
      await alice.deleteFiles([gone.slug])
      expect((await fetch(`${node.url}/d/${kept.slug}`)).status).toBe(200)
      await needing

      proxy.heal()
      await eventually('it is ready again', async () => (await fetch(`${node.url}/ready`)).ok, 10)
      expect(await readBack(node.url, kept.slug)).toEqual({ size: content.length, sha256: sha256(content) })
      const again = random.bytes(100_000)
      const { slug } = await alice.upload(again, 'again.bin')
      expect(await readBack(node.url, slug)).toEqual({ size: again.length, sha256: sha256(again) })
      await installation.runJobs()
      expect(await unsoundness(installation)).toEqual([])
    },
  )

  test.each(outages.slice(0, 2))(
    '%s in the middle of an upload refuses it and keeps nothing of it',
    async (_, fault) => {
      const upload = await raw('middle.bin', 40 * MIB)
      const before = proxy.requests.length
      for (let sent = 0; sent < 20; sent++) await upload.send(random.bytes(MIB))
      await eventually('parts are on their way', () =>
        proxy.requests.slice(before).some(({ path }) => path.includes('partNumber=')),
      )
      proxy.inject(fault, { times: Number.POSITIVE_INFINITY })
      const rest = (async () => {
        for (let sent = 0; sent < 20; sent++) await upload.send(random.bytes(MIB))
        await upload.finish()
      })().catch(() => {})
      await expectRefused(upload.answer)
      await rest
      proxy.heal()
      expect((await alice.files()).map(({ name }) => name)).not.toContain('middle.bin')
      await installation.runJobs()
      expect(await unsoundness(installation)).toEqual([])
    },
  )

  test('cuts in the middle of a download never passes a part for the whole', async () => {
    const content = random.bytes(20 * MIB)
    const { slug } = await alice.upload(content, 'download.bin')
    const address = await signedAddress(node.url, slug)
    proxy.inject({ kind: 'cut-response', after: 5 * MIB }, { match: isRead })
    expect(await isWhole(address)).toBe(false)
    const tries = fetch(address).then((response) => response.bytes())
    expect(sha256(await tries)).toBe(sha256(content))
    // What broke off is no download. The other is one once the server is done with it, after its reader.
    await eventually('it is counted', async () => (await alice.detail(slug)).downloads > 0)
    expect((await alice.detail(slug)).downloads).toBe(1)
  })
})

/** Whether the answer to a GET is as long as it says. */
async function isWhole(address: string): Promise<boolean> {
  const { hostname, port, pathname, search } = new URL(address)
  const socket = connect(Number(port), hostname)
  let head = ''
  let length = 0
  socket.on('error', () => {})
  socket.on('data', (bytes: Buffer) => {
    let body = bytes
    if (!head.includes('\r\n\r\n')) {
      const text = head + bytes.toString('latin1')
      const at = text.indexOf('\r\n\r\n')
      body = at < 0 ? Buffer.alloc(0) : bytes.subarray(at + 4 - head.length)
      head = text
    }
    length += body.length
  })
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`)
  await new Promise((resolve) => socket.on('close', resolve))
  expect(head).toStartWith('HTTP/1.1 200')
  const declared = /^content-length: *(\d+)/im.exec(head)?.[1]
  return length === Number(declared)
}
