import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { api, multipart, newcomer, refusal } from '../../../support/clients/api.ts'
import { visit } from '../../../support/clients/public.ts'
import { eventually } from '../../../support/eventually.ts'
import { openRaw } from '../../../support/network/raw-connection.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const KIB = 1024
const MAX_FILE_SIZE = 100 * KIB

const holdfast = await hostOfFile({ maxFileSize: MAX_FILE_SIZE })

describe('a search with a NUL in it', () => {
  test.each([
    '%00',
    '%00%00%00',
    'holiday%00',
    'holiday%00photo',
    'hol%00',
    'ho%00',
    '%00holiday',
    'holiday%00%22',
    '%22%00%22',
  ])('finds nothing and fails at nothing: %s', async (needle) => {
    const account = await newcomer(holdfast)
    await account.put('x', { name: 'holiday photo.jpg' })
    expect(await account.get('/api/v1/files?search=holiday')).toMatchObject({
      body: { pagination: { total: 1 } },
    })
    for (const query of [`search=${needle}`, `search=${needle}&folder=root&sort=name`]) {
      expect(await account.get(`/api/v1/files?${query}`)).toMatchObject({
        status: 200,
        body: { success: true, data: [], pagination: { total: 0, pages: 0 } },
      })
    }
  })
})

describe('a body that is coded', () => {
  test.each([
    ['PUT', '/notes.txt', 'Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc'],
    ['PUT', '/notes.txt', 'Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
    ['POST', '/api/v1/folder', 'Content-Encoding: br\r\nContent-Length: 3\r\n\r\nabc'],
  ])('is refused, not kept as it is: %s %s %p', async (method, path, rest) => {
    const { apiKey } = await holdfast.addAccount()
    const connection = await openRaw(holdfast.nodeUrl)
    await connection.send(
      `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\nConnection: close\r\n${rest}`,
    )
    expect(await connection.answer()).toMatchObject(refusal('INVALID_REQUEST'))
    connection.destroy()
  })
})

describe('a request whose Host header names no host', () => {
  const cases = [
    ['a bracket that is not closed', 'HTTP/1.1\r\nHost: ['],
    ['a port that is no number', 'HTTP/1.1\r\nHost: a:b'],
    ['nothing', 'HTTP/1.1\r\nHost: '],
    ['a space', 'HTTP/1.1\r\nHost: a b'],
    ['a port too big', 'HTTP/1.1\r\nHost: a@b:99999'],
  ] as const
  // Both sides of the listener: those that stream are answered by another part of Bun.
  const paths = ['/api/v1/files', '/nothing', '/api/v1/uploads', '/f/nothing']
  test.each(cases.flatMap(([what, head]) => paths.map((path) => [what, path, head])))(
    'is refused with JSON, for %s, at %s',
    async (_, path, head) => {
      const { apiKey } = await holdfast.addAccount()
      // A balancer refuses these by itself.
      const connection = await openRaw(holdfast.nodeUrl)
      await connection.send(
        `GET ${path} ${head}\r\nAuthorization: Bearer ${apiKey}\r\nConnection: close\r\n\r\n`,
      )
      const { status, body } = await connection.answer()
      connection.destroy()
      expect(body).toMatchObject({
        success: false,
        error: expect.stringMatching(/^(INVALID_REQUEST|NOT_FOUND)$/),
      })
      expect([400, 404]).toContain(status)
      expect((await visit(holdfast, '/health')).status).toBe(200)
    },
  )
})

describe('an upload without a length that is refused on the way', () => {
  test.each([
    ['sends nothing more', 0],
    ['sends 64 KiB more', 64 * KIB],
    ['sends 900 KiB more', 900 * KIB],
  ])('gets FILE_TOO_LARGE as JSON when its sender %s before it looks at the answer', async (_, more) => {
    const { apiKey } = await holdfast.addAccount()
    const before = await holdfast.storedBlobs()
    const { type, body } = multipart([
      {
        disposition: 'name="file"; filename="big.bin"',
        content: new Uint8Array(MAX_FILE_SIZE + 1 + more),
      },
    ])
    const connection = await sendChunked(holdfast, apiKey, type, body)
    expect(await connection.answer()).toMatchObject(refusal('FILE_TOO_LARGE'))
    expect(connection.failure()).toBeNull()
    connection.destroy()
    await eventually('nothing of it stays', async () => Bun.deepEquals(await holdfast.storedBlobs(), before))
    expect(await api(holdfast, apiKey).get('/api/v1/account')).toMatchObject({
      body: { data: { storage_used: 0, files_count: 0 } },
    })
  })

  test('gets the answer also when the server fails at it', async () => {
    await using stack = new AsyncDisposableStack()
    const own = stack.adopt(await startHoldfast(), (server) => server.stop())
    const { apiKey } = await own.addAccount()
    await sql`alter table reservations rename to mistaken`.execute(own.database)
    const { type, body } = multipart([
      { disposition: 'name="file"; filename="a.bin"', content: new Uint8Array(900 * KIB) },
    ])
    const connection = await sendChunked(own, apiKey, type, body)
    expect(await connection.answer()).toMatchObject(refusal('INTERNAL_ERROR'))
    expect(connection.failure()).toBeNull()
    connection.destroy()
  })
})

describe('the page of a public folder', () => {
  test('does not tell how many files are in a subfolder with a password of its own', async () => {
    const account = await newcomer(holdfast)
    const parent = await account.folder('parent')
    const open = await account.folder('open', { parent })
    const locked = await account.folder('locked', { parent, password: 'secret' })
    const before = await subfolderItems(parent)
    expect(Object.keys(before).sort()).toEqual([`/f/${locked}`, `/f/${open}`].sort())

    for (const folder of [open, locked]) {
      for (let file = 0; file < 3; file++) await account.put(`${folder} ${file}`, { folder })
    }
    const after = await subfolderItems(parent)
    expect(after[`/f/${locked}`]).toBe(before[`/f/${locked}`])
    // Where nothing is locked the number is shown, so the page could have told.
    expect(before[`/f/${open}`]).toContain('0 files')
    expect(after[`/f/${open}`]).toContain('3 files')
    // And the parent counts its own files alone.
    expect(await (await visit(holdfast, `/f/${parent}`)).text()).not.toContain('6 files')
  })
})

/** Sends all of an upload in chunks, looking at nothing that comes back meanwhile. */
async function sendChunked(server: TestHoldfast, key: string, type: string, body: Uint8Array) {
  const connection = await openRaw(server.url, { readsLate: true })
  await connection.send(
    `POST /api/v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  )
  for (let at = 0; at < body.length; at += 64 * KIB) {
    const piece = body.subarray(at, at + 64 * KIB)
    await connection.send(
      Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
    )
  }
  await connection.send('0\r\n\r\n')
  return connection
}

/** What a visitor sees of each subfolder: its link and the text there. */
async function subfolderItems(folder: string): Promise<Record<string, string>> {
  const items: Record<string, string> = {}
  let present = ''
  const page = new HTMLRewriter().on('.subfolder-item', {
    element(item) {
      present = item.getAttribute('href') ?? ''
      items[present] = ''
    },
    text({ text }) {
      items[present] += text
    },
  })
  const response = page.transform(await visit(holdfast, `/f/${folder}`))
  expect(response.status).toBe(200)
  await response.text()
  return items
}
