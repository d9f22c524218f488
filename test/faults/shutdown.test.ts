// Only in test:all: half a minute that a stopping server gives uploads.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
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

  test.concurrent('lets a running upload finish, takes no new ones, and exits 0', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    await using server = await startWithUpload(dataDir)
    const { upload } = server

    server.signal(signal)
    await eventually('new uploads are refused', () => refuses(server.url))
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
  await eventually('new uploads are refused', () => refuses(server.url))

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

  const form = new FormData()
  form.set('file', new File(['refused'], 'refused.txt'))
  const program = await ask('/api/v1/upload', { method: 'POST', body: form })
  expect(program.status).toBe(503)
  expect(program.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await program.json()).toMatchObject({ success: false, error: 'SHUTTING_DOWN' })

  for (const [path, status] of [
    ['/', 200],
    ['/no-such-page', 404],
    ['/health', 503],
    ['/ready', 503],
  ] as const) {
    expect({ path, status: (await ask(path)).status }).toEqual({ path, status })
  }

  await upload.send(CONTENT.subarray(HALF))
  expect((await upload.finish()).status).toBe(200)
  expect(await server.exited).toEqual({ code: 0, signal: null })
})

test.concurrent('a stopping server serves lists, pages and downloads while a slow upload in one request goes on', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  await using server = await startWithUpload(dataDir)
  const { upload, key } = server
  const ann = caller(server.url, key)
  const { slug } = await ann.upload(CONTENT.subarray(0, 1000), 'kept.bin')
  const asked = fetch(`${server.url}/api/v1/files`, { headers: { authorization: `Bearer ${key}` } })
  expect((await asked).status).toBe(200)
  server.signal('SIGTERM')
  await eventually('new uploads are refused', () => refuses(server.url))
  for (let at = HALF; at < HALF + 5000; at += 1000) {
    await upload.send(CONTENT.subarray(at, at + 1000))
    expect((await ann.files()).map(({ name }) => name)).toEqual(['kept.bin'])
    expect((await fetch(`${server.url}/d/${slug}`)).status).toBe(200)
    expect((await readBack(server.url, slug)).size).toBe(1000)
    await ann.createFolder(`made at ${at}`)
  }
  await upload.send(CONTENT.subarray(HALF + 5000))
  expect((await upload.finish()).status).toBe(200)
  expect(await server.exited).toEqual({ code: 0, signal: null })
})

test.concurrent('a stopping server cuts a resumable upload at once, at an offset that is durable', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const { apiKey: key } = await addAccount(dataDir, 'resumes')
  // Nothing would end it before the test does.
  await using server = await startChild(dataDir, { SHUTDOWN_GRACE: '300' })
  const tus = { authorization: `Bearer ${key}`, 'tus-resumable': '1.0.0' }
  const made = await fetch(`${server.url}/api/v1/uploads`, {
    method: 'POST',
    headers: { ...tus, 'upload-length': String(CONTENT.length) },
  })
  const path = new URL(made.headers.get('location') ?? '', server.url).pathname
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes.toString('latin1')
  })
  socket.on('error', () => {})
  const headers = Object.entries({
    ...tus,
    host: hostname,
    'upload-offset': '0',
    'content-type': 'application/offset+octet-stream',
    'content-length': String(CONTENT.length),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`PATCH ${path} HTTP/1.1\r\n${headers.join('')}\r\n`)
  socket.write(CONTENT.subarray(0, HALF))
  const offset = async (url: string) =>
    Number((await fetch(url + path, { method: 'HEAD', headers: tus })).headers.get('upload-offset'))
  const resumable = join(dataDir, 'blobs/resumable')
  await eventually('bytes have come', () =>
    readdirSync(resumable).some((name) => statSync(join(resumable, name)).size > 0),
  )
  server.signal('SIGTERM')
  // A slow client goes on meanwhile.
  let sent = HALF
  const sending = setInterval(() => {
    if (sent >= CONTENT.length - 1000) return
    socket.write(CONTENT.subarray(sent, sent + 100))
    sent += 100
  }, 100)
  expect(await server.exited).toEqual({ code: 0, signal: null })
  clearInterval(sending)
  socket.destroy()
  if (answer !== '') expect(answer).toStartWith('HTTP/1.1 503')

  await using again = await startChild(dataDir)
  const kept = await offset(again.url)
  expect(kept).toBeGreaterThan(0)
  const rest = await fetch(again.url + path, {
    method: 'PATCH',
    headers: { ...tus, 'upload-offset': String(kept), 'content-type': 'application/offset+octet-stream' },
    body: CONTENT.subarray(kept),
  })
  expect(rest.status).toBe(204)
  const [file] = await caller(again.url, key).files()
  expect(await readBack(again.url, file?.slug ?? '')).toEqual({
    size: CONTENT.length,
    sha256: sha256(CONTENT),
  })
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
    response = await fetch(`${url}/ready`, { keepalive: false })
  } catch {
    return true
  }
  const body: unknown = await response.json()
  if (response.status === 200) return false
  expect({ status: response.status, body }).toMatchObject({
    status: 503,
    body: { success: false, error: 'SHUTTING_DOWN' },
  })
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
  return true
}
