import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { chance } from '../support/chance.ts'
import { caller, readBack, sha256, signedAddress, uploadResult } from '../support/clients/caller.ts'
import { picture } from '../support/contents/pictures.ts'
import { eventually } from '../support/eventually.ts'
import { openUpload } from '../support/network/raw-upload.ts'
import {
  addAccount,
  type ChildSettings,
  logLines,
  startChild,
  temporaryFolder,
} from '../support/processes/child.ts'
import { finishedBlobs, inconsistencies, unfinishedBlobs } from '../support/storage/blob-folder.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
const CONTENT = chance(1).bytes(300_000)
const HALF = 150_000

/** A server in the middle of an upload, of which it has half. */
async function startWithUpload(dataDir: string, settings: ChildSettings = {}) {
  const { apiKey: key } = await addAccount(dataDir, 'uploads')
  const server = await startChild(dataDir, settings)
  const upload = await openUpload(server.url, { key, size: CONTENT.length })
  await upload.send(CONTENT.subarray(0, HALF))
  await eventually('the upload has begun', () => unfinishedBlobs(dataDir).length === 1)
  return { ...server, key, upload }
}

describe.each(SIGNALS)('%s', (signal) => {
  test.concurrent('ends an idle server with exit code 0', async () => {
    using folder = temporaryFolder()
    await using server = await startChild(join(folder.path, 'data'))
    server.signal(signal)
    expect(await server.exited).toEqual({ code: 0, signal: null })
  })

  test.concurrent('ends a server that clients hold idle connections to', async () => {
    using folder = temporaryFolder()
    await using server = await startChild(join(folder.path, 'data'))
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    await new Promise<void>((answered) => {
      socket.once('data', () => answered())
      socket.write(`GET /health HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
    })
    server.signal(signal)
    expect(await server.exited).toEqual({ code: 0, signal: null })
    socket.destroy()
  })

  test.concurrent('lets a running upload finish, takes no new requests, and exits 0', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    await using server = await startWithUpload(dataDir)
    const { upload } = server

    server.signal(signal)
    await eventually('new requests are refused', () => refuses(server.url))
    await upload.send(CONTENT.subarray(HALF))
    const { status, body } = await upload.finish()
    expect({ status, body: JSON.parse(body) }).toMatchObject({ status: 200, body: { success: true } })
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(inconsistencies(dataDir, { cleaned: true })).toEqual([])

    await using again = await startChild(dataDir)
    const { slug } = uploadResult.parse(JSON.parse(body))
    expect(await readBack(again.url, slug)).toEqual({ size: CONTENT.length, sha256: sha256(CONTENT) })
  })

  test.concurrent('keeps the views and downloads of the last moment', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    const { apiKey } = await addAccount(dataDir, 'counts')
    await using server = await startChild(dataDir)
    const { slug } = await caller(server.url, apiKey).upload(CONTENT, 'counted.bin')
    for (let view = 0; view < 3; view++) await (await fetch(`${server.url}/d/${slug}`)).text()
    for (let download = 0; download < 2; download++) {
      await (await fetch(await signedAddress(server.url, slug))).arrayBuffer()
    }
    server.signal(signal)
    expect(await server.exited).toEqual({ code: 0, signal: null })

    await using again = await startChild(dataDir)
    expect(await caller(again.url, apiKey).detail(slug)).toMatchObject({ views: 3, downloads: 2 })
  })
})

test.concurrent('an upload that stands still does not keep a stopping server for ever', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  await using server = await startWithUpload(dataDir, { SHUTDOWN_GRACE: '2' })
  const { upload, key } = server
  server.signal('SIGTERM')
  expect(await server.exited).toEqual({ code: 0, signal: null })
  await upload.answer.catch(() => null)

  await using again = await startChild(dataDir)
  expect(await caller(again.url, key).account()).toMatchObject({ storage_used: 0, files_count: 0 })
  await eventually('what was left is cleared', () => unfinishedBlobs(dataDir).length === 0)
  await again.stop()
  expect(inconsistencies(dataDir, { cleaned: true })).toEqual([])
})

test.concurrent('a disk that never answers does not keep a stopping server for ever', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const { apiKey } = await addAccount(dataDir, 'pictures')
  await using server = await startChild(dataDir, { THUMBNAILS: 'false' })
  const { thumbnail_url } = await caller(server.url, apiKey).upload(
    await picture('png', 64, 64),
    'picture.png',
  )
  await server.stop()
  const [key = ''] = finishedBlobs(dataDir)
  const path = join(dataDir, 'blobs', key.slice(0, 2), key)
  rmSync(path)
  // Whoever opens it waits for somebody who writes, and nobody will.
  expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0)

  await using again = await startChild(dataDir)
  // Asks for it to be made.
  expect((await fetch(new URL(thumbnail_url, again.url))).ok).toBe(true)
  await eventually('the thumbnail waits for its picture', () => waitsForPartner(again.pid))
  again.signal('SIGTERM')
  expect(await again.exited).toEqual({ code: 0, signal: null })
  const told = logLines(again.output()).filter(({ msg }) => msg === 'stopping without waiting any longer')
  expect(told.map(({ what }) => what)).toContain('the thumbnails')
})

test.concurrent('a stopping server says so to resumable clients, to programs and to people', async () => {
  using folder = temporaryFolder()
  await using server = await startWithUpload(join(folder.path, 'data'))
  const { upload } = server
  server.signal('SIGTERM')
  await eventually('new requests are refused', () => refuses(server.url))

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(server.url + path, { keepalive: false, ...init, headers: { Accept: 'text/html', ...init.headers } })
  const resumable = await ask('/api/v1/uploads', {
    method: 'POST',
    headers: { 'Tus-Resumable': '1.0.0', 'Upload-Length': '5' },
  })
  expect(resumable.status).toBe(503)
  expect(resumable.headers.get('tus-resumable')).toBe('1.0.0')
  expect(resumable.headers.get('connection')).toBe('close')
  expect(await resumable.json()).toMatchObject({ success: false, error: 'SHUTTING_DOWN' })

  const program = await ask('/api/v1/files')
  expect(program.status).toBe(503)
  expect(await program.json()).toMatchObject({ success: false, error: 'SHUTTING_DOWN' })

  for (const path of ['/', '/no-such-page']) {
    const page = await ask(path)
    expect(page.status).toBe(503)
    expect(page.headers.get('content-type')).toStartWith('text/html')
  }

  await upload.send(CONTENT.subarray(HALF))
  expect((await upload.finish()).status).toBe(200)
  expect(await server.exited).toEqual({ code: 0, signal: null })
})

/** Whether a thread of the process is opening a named pipe that nobody has open. */
function waitsForPartner(pid: number): boolean {
  const threads = `/proc/${pid}/task`
  return readdirSync(threads).some(
    (thread) => readFileSync(join(threads, thread, 'wchan'), 'latin1') === 'wait_for_partner',
  )
}

/** Whether a new connection is turned away, or answered 503 SHUTTING_DOWN as the contract says. Throws for else. */
async function refuses(url: string): Promise<boolean> {
  let response: Response
  try {
    response = await fetch(`${url}/api/v1/account`, { keepalive: false })
  } catch {
    return true
  }
  const body: unknown = await response.json()
  // Without a key, a server that is still open answers 401.
  if (response.status === 401) return false
  expect({ status: response.status, body }).toMatchObject({
    status: 503,
    body: { success: false, error: 'SHUTTING_DOWN' },
  })
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
  return true
}
