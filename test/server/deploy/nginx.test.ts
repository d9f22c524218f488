// Only in test:all: a real nginx before real servers; the nodes of the cluster have one too.
import { expect, test } from 'bun:test'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { chance } from '../../support/chance.ts'
import { caller, sha256, signedAddress, uploadResult } from '../../support/clients/caller.ts'
import { eventually } from '../../support/eventually.ts'
import { openUpload } from '../../support/network/raw-upload.ts'
import {
  addAccount,
  type ChildServer,
  type ChildSettings,
  startChild,
  temporaryFolder,
} from '../../support/processes/child.ts'
import { describeWith } from '../../support/processes/tools.ts'
import {
  NGINX_TOOLS,
  type NginxSite,
  nginxComplaints,
  startNginxSite,
} from '../../support/servers/nginx-site.ts'
import { unfinishedBlobs } from '../../support/storage/blob-folder.ts'

const MIB = 1024 * 1024
const PIECE = chance(7).bytes(4 * MIB)
const PIECES = 75
const RESTS = 50

describeWith(NGINX_TOOLS, 'the delivered nginx configuration', () => {
  test.each(['holdfast.conf', 'holdfast-tls.conf'] as const)(
    'nginx finds nothing wrong in %s',
    async (site) => {
      expect(await nginxComplaints({ site, upstream: 'one-node.conf', nodes: [3000] })).toEqual([])
      expect(
        await nginxComplaints({ site, upstream: 'three-nodes.conf', nodes: [3001, 3002, 3003] }),
      ).toEqual([])
    },
  )

  test('a big upload goes to the node as it comes, and a big download to its reader, past nginx’s disk', async () => {
    await using server = await startSite()
    const { site, dataDir, key } = server
    const hash = new Bun.CryptoHasher('sha256')
    const upload = await openUpload(site.url, { key, size: PIECES * PIECE.length, name: 'big.bin' })
    const half = Math.floor(PIECES / 2)
    for (let piece = 0; piece < half; piece++) {
      hash.update(PIECE)
      await upload.send(PIECE)
    }
    // The sender waits here: what the node does not have now, nginx keeps.
    await eventually('the node has nearly all of it', () => {
      return unfinishedBytes(dataDir) > half * PIECE.length - 8 * MIB
    })
    expect(site.setAside()).toEqual([])
    for (let piece = half; piece < PIECES; piece++) {
      hash.update(PIECE)
      await upload.send(PIECE)
    }
    const { status, body } = await upload.finish()
    expect(status).toBe(200)
    const stored = uploadResult.parse(JSON.parse(body))
    const digest = hash.digest('hex')
    expect(stored).toMatchObject({ size: PIECES * PIECE.length, sha256: digest })

    const aside = new Set<string>()
    const received = await readSlowly(await contentAddress(site, stored.slug), () => {
      for (const path of site.setAside()) aside.add(path)
    })
    expect(received).toBe(digest)
    expect([...aside]).toEqual([])
  })

  test('a range and a conditional request are answered as the node answers them', async () => {
    await using server = await startSite()
    const { site, key } = server
    const { slug, sha256: digest } = await caller(site.url, key).upload(PIECE, 'ranges.bin')
    const address = await contentAddress(site, slug)
    const range = await fetch(address, { headers: { range: 'bytes=1000000-1000009' } })
    expect([range.status, await range.bytes()]).toEqual([206, PIECE.slice(1_000_000, 1_000_010)])
    const unchanged = await fetch(address, { headers: { 'if-none-match': `"${digest}"` } })
    expect(unchanged.status).toBe(304)
  })

  test('the metrics of a node are not passed on', async () => {
    await using server = await startSite({ METRICS: 'on' })
    expect((await fetch(`${server.site.url}/metrics`)).status).toBe(404)
    expect((await fetch(`${server.site.url}/health`)).status).toBe(200)
  })

  test('a refusal reaches the sender of an upload that has only begun', async () => {
    await using server = await startSite({ MAX_FILE_SIZE: '100MB' })
    const { site, key } = server
    const tooLarge = await openUpload(site.url, { key, size: 200 * MIB })
    expect(await tooLarge.answer).toMatchObject({
      status: 413,
      body: expect.stringContaining('FILE_TOO_LARGE'),
    })
    const unknown = await openUpload(site.url, { key: 'hf_unknown', size: 50 * MIB })
    expect(await unknown.answer).toMatchObject({
      status: 401,
      body: expect.stringContaining('INVALID_API_KEY'),
    })
  })

  test('nothing stays of an upload whose sender vanishes', async () => {
    await using server = await startSite()
    const { site, dataDir, key } = server
    const upload = await openUpload(site.url, { key, size: 64 * MIB })
    await upload.send(PIECE)
    await eventually('the node takes it in', () => unfinishedBlobs(dataDir).length === 1)
    upload.abort()
    await eventually('the node has dropped it', () => unfinishedBlobs(dataDir).length === 0)
  })

  test('a visitor cannot choose the address that limits count', async () => {
    await using server = await startSite({ TRUSTED_PROXIES: '127.0.0.1', GUEST_RATE_LIMIT: '1' })
    const { site } = server
    const upload = (from: string, forwarded: string) =>
      curl(
        '--interface',
        from,
        '-H',
        `X-Forwarded-For: ${forwarded}`,
        '-F',
        'file=hello;filename=a.txt',
        site.url + UPLOAD,
      )
    expect(upload('127.0.0.1', '192.0.2.1')).toBe('200')
    expect(upload('127.0.0.1', '192.0.2.2')).toBe('429')
    // And visitors are told apart.
    expect(upload('127.0.0.3', '192.0.2.1')).toBe('200')
  })

  test('nginx logs every request without what its address tells, with the id of the request', async () => {
    await using server = await startSite()
    const { site, key } = server
    const upload = await caller(site.url, key).upload(PIECE.subarray(0, 100), 'secret-name.txt')
    const address = await contentAddress(site, upload.slug)
    const id = (await fetch(address)).headers.get('x-request-id')
    await using byTls = await startNginxSite({
      site: 'holdfast-tls.conf',
      upstream: 'one-node.conf',
      nodes: [1],
    })
    await fetch(`${byTls.plainUrl}/d/${upload.slug}?password=sand`, { redirect: 'manual' })
    await eventually(
      'both are logged',
      () => / 308 /.test(byTls.accessLog()) && id !== null && site.accessLog().includes(id),
    )
    const log = site.accessLog() + byTls.accessLog()
    expect(log).toMatch(new RegExp(`^127\\.0\\.0\\.1 \\[[^\\]]+\\] GET HTTP/[12.]+ 200 .* id=${id} `, 'm'))
    for (const told of [upload.slug, upload.uuid, 'token', 'secret', 'sand']) expect(log).not.toContain(told)
  })

  test('without any node it answers 503 as Holdfast does', async () => {
    await using site = await startNginxSite({ site: 'holdfast.conf', upstream: 'one-node.conf', nodes: [1] })
    const response = await fetch(`${site.url}/api/v1/account`)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ success: false, error: 'SHUTTING_DOWN' })
  })

  test('a node that is gone is passed over', async () => {
    using folder = temporaryFolder()
    await using one = await startChild(join(folder.path, 'one'))
    await using two = await startChild(join(folder.path, 'two'))
    await using gone = await startChild(join(folder.path, 'three'))
    await using site = await startNginxSite({
      site: 'holdfast.conf',
      upstream: 'three-nodes.conf',
      nodes: [one, two, gone].map(portOf),
    })
    await gone.kill()
    const statuses = new Set<number>()
    for (let tries = 0; tries < 20; tries++) {
      statuses.add((await fetch(`${site.url}/health`)).status)
      statuses.add((await fetch(site.url + UPLOAD, { method: 'POST', body: guestUpload() })).status)
    }
    expect([...statuses]).toEqual([200])
  })

  test('when a node breaks off, what only asks is asked again elsewhere, and what changes something is not', async () => {
    const seen: string[] = []
    await using breaking = await listenFor((method) => {
      seen.push(`${method} at the broken node`)
      return null
    })
    await using well = await listenFor((method) => {
      seen.push(`${method} at another`)
      return 200
    })
    const nodes = [breaking.port, well.port, well.port]
    const ask = async (method: string) => {
      await using site = await startNginxSite({ site: 'holdfast.conf', upstream: 'three-nodes.conf', nodes })
      // The first that is asked is the first of those that have as little to do.
      return (await fetch(site.url, { method, ...(method === 'POST' ? { body: '{}' } : {}) })).status
    }
    expect(await ask('GET')).toBe(200)
    expect(await ask('POST')).toBe(503)
    expect(seen).toEqual(['GET at the broken node', 'GET at another', 'POST at the broken node'])
  })

  test('HTTPS speaks HTTP/2 and takes uploads, and HTTP leads there', async () => {
    await using server = await startSite({}, 'holdfast-tls.conf')
    const { site, folder, key } = server
    const file = join(folder, 'upload.bin')
    writeFileSync(file, PIECE)
    const answer = join(folder, 'answer.json')
    const versionAndStatus = curlFor(
      '%{http_version} %{http_code}',
      ...['--insecure', '--http2', '--output', answer, '-H', `Authorization: Bearer ${key}`],
      ...['-F', `file=@${file}`, site.url + UPLOAD],
    )
    expect(versionAndStatus).toBe('2 200')
    expect(uploadResult.parse(await Bun.file(answer).json()).sha256).toBe(sha256(PIECE))

    const redirect = await fetch(`${site.plainUrl}/d/some?download=1`, {
      redirect: 'manual',
      headers: { host: 'files.example.org' },
    })
    expect(redirect.status).toBe(308)
    expect(redirect.headers.get('location')).toBe('https://files.example.org/d/some?download=1')
  })
})

const UPLOAD = '/api/v1/upload'

interface RunningSite {
  readonly site: NginxSite
  readonly folder: string
  readonly dataDir: string
  readonly key: string
  [Symbol.asyncDispose](): Promise<void>
}

/** A server behind nginx, with one account. */
async function startSite(
  settings: ChildSettings = {},
  site: 'holdfast.conf' | 'holdfast-tls.conf' = 'holdfast.conf',
): Promise<RunningSite> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder()).path
  const dataDir = join(folder, 'data')
  const { apiKey: key } = await addAccount(dataDir, 'proxied')
  const server = stack.use(await startChild(dataDir, { MIN_FREE_SPACE: '0', ...settings }))
  const nginx = stack.use(await startNginxSite({ site, upstream: 'one-node.conf', nodes: [portOf(server)] }))
  const kept = stack.move()
  return {
    site: nginx,
    folder,
    dataDir,
    key,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Where nginx gives the bytes; the address that the server signs is its own, since it was not told of nginx. */
async function contentAddress(site: NginxSite, slug: string): Promise<string> {
  const { pathname, search } = new URL(await signedAddress(site.url, slug))
  return site.url + pathname + search
}

function portOf({ url }: ChildServer): number {
  return Number(new URL(url).port)
}

function unfinishedBytes(dataDir: string): number {
  const folder = join(dataDir, 'blobs/tmp')
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

function guestUpload(): FormData {
  const form = new FormData()
  form.set('file', new File(['hello'], 'hello.txt'))
  return form
}

/**
 * The SHA-256 of what the address answers, from a reader that rests often at first: what comes too fast for it is what
 * nginx would put aside. `look` is called after each rest.
 */
async function readSlowly(address: string, look: () => void): Promise<string> {
  const { hostname, port, pathname, search } = new URL(address)
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
  const hash = new Bun.CryptoHasher('sha256')
  let head: Buffer | null = Buffer.alloc(0)
  let rests = 0
  for await (const piece of socket) {
    const bytes = Buffer.from(piece)
    if (head === null) hash.update(bytes)
    else {
      head = Buffer.concat([head, bytes])
      const end = head.indexOf('\r\n\r\n')
      if (end !== -1) {
        hash.update(head.subarray(end + 4))
        head = null
      }
    }
    if (++rests > RESTS) continue
    await Bun.sleep(10)
    look()
  }
  return hash.digest('hex')
}

/** The status that curl was answered with. */
function curl(...options: string[]): string {
  return curlFor('%{http_code}', '--output', '/dev/null', ...options)
}

function curlFor(figures: string, ...options: string[]): string {
  return Bun.spawnSync(['curl', '--silent', '--write-out', figures, ...options]).stdout.toString()
}

/** A stand-in for a node that answers with the status it is told, or breaks the connection off instead. */
async function listenFor(answer: (method: string) => number | null) {
  const server = createServer((request, response) => {
    const status = answer(request.method ?? '')
    if (status === null) request.socket.destroy()
    else response.writeHead(status).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the stand-in has no port')
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((closed) => server.close(() => closed()))
    },
  }
}
