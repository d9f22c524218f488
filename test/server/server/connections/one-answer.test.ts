/** Input that parsers disagree on gets one answer, after which the connection closes, or is read exactly. */
// Only in test:all: generated: 680 requests; request-smuggling.contract.test.ts has what parsers disagree on.
// Only on a folder: generated, and about the connection: nginx refuses most of it by itself.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'

const CHUNKS = '5\r\nhello\r\n0\r\n\r\n'
const HIDDEN = 'GET /health HTTP/1.1\r\nHost: a\r\nX-Hidden: 1\r\n\r\n'

/** Sends the pieces with a pause between, and reads until the server closes: all that came back. */
async function exchange(holdfast: TestHoldfast, pieces: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(holdfast.nodeUrl)
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  socket.on('end', resolve)
  socket.on('close', () => resolve())
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) await Bun.sleep(10)
    socket.write(Buffer.from(piece, 'latin1'))
  }
  await promise
  socket.destroy()
  return received
}

function statuses(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
}

/** Headers after which a body ends at different places for different parsers. */
const UNCLEAR = [
  ...['gzip, chunked', 'foo, chunked', 'chunked, chunked', 'trailers, chunked', ', chunked', 'chunked,'],
  ...['gzip', 'identity', 'foo', 'xchunked', 'chunkedx', 'chunked, gzip', 'chunked;a=b', '"chunked"', ''],
]
  .map((coding) => `Transfer-Encoding: ${coding}`)
  .concat(
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding\t: chunked',
    'Transfer-Encoding:\r\n chunked',
    'X: y\r\n Transfer-Encoding: chunked',
    `Transfer-Encoding: chunked\r\nContent-Length: ${CHUNKS.length}`,
    `Content-Length: ${CHUNKS.length}\r\nTransfer-Encoding: chunked`,
    ...['+5', '-5', '5, 5', '5,6', '5;a', '5 5', '0x5', '5.0', '5e0', '', '\u0665', '9'.repeat(23)].map(
      (length) => `Content-Length: ${length}`,
    ),
    'Content-Length: 5\r\nContent-Length: 5',
    'Content-Length: 5\r\nContent-Length: 6',
    'Content-Length : 5',
    'Content-Length:\r\n 5',
  )

const REQUESTS = [
  ['GET', '/health'],
  ['HEAD', '/health'],
  ['OPTIONS', '/health'],
  ['GET', '/f/nothing'],
  ['PUT', '/a.bin'],
  ['POST', '/api/v1/upload'],
  ['POST', '/api/v1/folder'],
  ['DELETE', '/api/v1/receipt/nothing'],
] as const

describe.each(['dispatch', 'node:http'] as const)('taken by %s,', (way) => {
  let holdfast: TestHoldfast
  beforeAll(async () => {
    holdfast = await startHoldfast({}, undefined, way)
  })
  afterAll(() => holdfast.stop())

  async function expectOneRefusal(pieces: readonly string[], status = 400): Promise<string> {
    const received = await exchange(holdfast, pieces)
    expect(statuses(received)).toEqual([status])
    expect(received.match(/^connection: .*$/gim)).toEqual(['Connection: close'])
    return received
  }

  describe.each(REQUESTS)('%s %s', (method, path) => {
    test.each(UNCLEAR)('is refused once, and its connection closed, with %j', async (framing) => {
      await Promise.all(
        ['1.0', '1.1'].flatMap((version) => {
          const head = `${method} ${path} HTTP/${version}\r\nHost: a\r\n${framing}\r\n\r\n`
          return [
            expectOneRefusal([head + CHUNKS + HIDDEN]),
            expectOneRefusal([head, CHUNKS + HIDDEN]),
            expectOneRefusal([`${head}hello`]),
          ]
        }),
      )
    })
  })

  test.each(['hello', CHUNKS, HIDDEN])(
    'a file without a length or chunks is refused once, with %j behind its head',
    async (rest) => {
      for (const version of ['1.0', '1.1'])
        for (const path of ['/a.bin', '/', '/api/v1/upload/a.bin']) {
          const head = `PUT ${path} HTTP/${version}\r\nHost: a\r\n\r\n`
          for (const pieces of [[head + rest], [head, rest]]) {
            const received = await expectOneRefusal(pieces)
            expect(received).toContain('Send Content-Length')
          }
        }
      expect(await holdfast.storedBlobs()).toEqual([])
    },
  )

  test.each([
    ['POST', '/api/v1/upload', 'Content-Type: multipart/form-data; boundary=x'],
    ['POST', '/api/v1/folder', 'Content-Type: application/json'],
    ['PATCH', '/api/v1/uploads/nothing', 'Tus-Resumable: 1.0.0\r\nUpload-Offset: 0'],
    ['POST', '/api/v1/uploads', 'Tus-Resumable: 1.0.0\r\nUpload-Length: 5'],
  ])('%s %s with bytes that it did not declare gets one answer', async (method, path, headers) => {
    for (const rest of ['hello', HIDDEN]) {
      const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`
      for (const pieces of [[head + rest], [head, rest]])
        expect(statuses(await exchange(holdfast, pieces))).toHaveLength(1)
    }
  })

  test.each(['/health', '/f/nothing'])(
    'what follows the last request of a connection gets no answer, at %s',
    async (path) => {
      for (const rest of ['hello\r\n\r\n', HIDDEN])
        for (const head of [
          `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
          `GET ${path} HTTP/1.0\r\n\r\n`,
        ])
          for (const pieces of [[head + rest], [head, rest]])
            expect(statuses(await exchange(holdfast, pieces))).toHaveLength(1)
    },
  )

  const READ = ['Content-Length: 5', 'Content-Length:5 ', 'Content-Length:\t5', 'Content-Length: 005']
  test.each([...READ.map((length) => [length, 'hello']), ['Transfer-Encoding: Chunked', CHUNKS]])(
    'a body with %j is read exactly, and the connection kept',
    async (framing, body) => {
      const head = `PUT /a.txt HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n${framing}\r\n\r\n`
      const last = 'GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
      const received = await exchange(holdfast, [`${head}${body}${last}`])
      expect(statuses(received)).toEqual([200, 200])
      expect(received).toContain('"size":5,')
    },
  )

  test('chunks in HTTP/1.0 are read exactly, and the connection closed', async () => {
    const head = 'PUT /a.txt HTTP/1.0\r\nAccept: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    const received = await exchange(holdfast, [`${head}${CHUNKS}${HIDDEN}`])
    expect(statuses(received)).toEqual([200])
    expect(received).toContain('"size":5,')
  })

  test('OPTIONS * says what the server allows, alone or after another request', async () => {
    const get = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'
    const options = 'OPTIONS * HTTP/1.1\r\nUser-Agent: a\r\nhost: a\r\n\r\n'
    for (const pieces of [[options], ['OPTIONS * HTTP/1.0\r\n\r\n'], [get, options]]) {
      const received = await exchange(holdfast, pieces)
      expect(statuses(received)).toEqual([...pieces.slice(1).map(() => 200), 204])
      expect(received).toContain('Allow: GET, HEAD, ')
      expect(received.slice(received.indexOf(' 204 '))).not.toMatch(/content-length/i)
    }
  })

  test.each([
    'OPTIONS * HTTP/1.1\r\n\r\n',
    'GET * HTTP/1.1\r\nHost: a\r\n\r\n',
    'OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ])('%j is refused once', async (request) => {
    await expectOneRefusal([request])
  })
})
