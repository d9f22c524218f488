import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createConnection } from 'node:net'
import { pino } from 'pino'
import { FileChunks } from '../../../../src/blobs/disk-reading.ts'
import { endsWithin } from '../../../../src/domain/abort.ts'
import { storedResponse } from '../../../../src/server/answers/answers.ts'
import type { AnswerRequest, PathKind } from '../../../../src/server/connections/exchange.ts'
import { type HttpListener, listen } from '../../../../src/server/connections/listener.ts'
import { eventually } from '../../../support/eventually.ts'
import { slowReader } from '../../../support/network/slow-reader.ts'

function kindOf(path: string): PathKind {
  if (path.startsWith('/s/')) return 'streaming'
  return path.startsWith('/r/') ? 'receiving' : 'plain'
}

const WAYS = ['dispatch', 'node:http'] as const

const CHUNK = new Uint8Array(256 * 1024).fill(7)
const CHUNKS = 20
/** More than sockets hold. */
const FILLED = 100
const filledLength = { 'Content-Length': String(CHUNK.length * FILLED) }

/** What became of the streams that were answered. */
const ended = { cancelled: 0, broken: 0 }

function stream(chunks: number, breaksAfter = Number.POSITIVE_INFINITY): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === breaksAfter) {
        ended.broken++
        controller.error(new Error('the store is away'))
      } else if (sent++ < chunks) controller.enqueue(CHUNK)
      else controller.close()
    },
    cancel() {
      ended.cancelled++
    },
  })
}

/** Fills what its reader brings with the number of the chunk, so that a chunk overwritten too soon shows. */
function fillingStream(chunks: number): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    type: 'bytes',
    autoAllocateChunkSize: CHUNK.length,
    pull(controller) {
      const { byobRequest } = controller
      const view = byobRequest?.view
      if (!byobRequest || !view) throw new Error('nothing was brought')
      const length = sent === chunks ? 0 : CHUNK.length
      if (length === 0) controller.close()
      new Uint8Array(view.buffer, view.byteOffset, length).fill(sent++)
      byobRequest.respond(length)
    },
  })
}

/** Bytes of large requests that have come. */
const flow = {
  bytes: 0,
  received(bytes: number) {
    this.bytes += bytes
  },
  sent() {},
}

/** Sources of stored bodies that are open. */
let open = 0

let late = Promise.withResolvers<void>()

/** A stored body whose bytes tell their place. */
function storedBody(length: number): FileChunks {
  open++
  const source = {
    async readInto(start: number, target: Uint8Array) {
      await Bun.sleep(0)
      for (let at = 0; at < target.length; at += 1024) target.fill((start + at) / 1024, at, at + 1024)
    },
    async close() {
      open--
    },
  }
  return new FileChunks(source, 0, length)
}

/** Hash of a body whose chunks are all held until its end. `isSlow`: the first ones are read when more has come already. */
async function heldHash({ body }: Request, isSlow: boolean): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    if (isSlow && chunks.length < 4) await Bun.sleep(20)
  }
  return new Bun.SHA256().update(Buffer.concat(chunks)).digest('hex')
}

const answer: AnswerRequest = async (request, connection) => {
  const { pathname } = new URL(request.url)
  const length = { 'Content-Length': String(CHUNK.length * CHUNKS) }
  if (pathname.endsWith('/whole')) return new Response(stream(CHUNKS), { headers: length })
  if (pathname.endsWith('/filled')) return new Response(fillingStream(FILLED), { headers: filledLength })
  if (pathname.endsWith('/endless')) return new Response(stream(Number.POSITIVE_INFINITY))
  if (pathname.endsWith('/late')) {
    await late.promise
    return storedResponse(storedBody(FILLED * CHUNK.length), { headers: filledLength })
  }
  if (pathname.endsWith('/short')) return new Response(stream(CHUNKS - 1), { headers: length })
  if (pathname.endsWith('/empty')) return new Response(stream(0), { headers: length })
  if (pathname.endsWith('/stored'))
    return storedResponse(storedBody(FILLED * CHUNK.length), { headers: filledLength })
  if (pathname.endsWith('/broken')) return new Response(stream(CHUNKS, 3), { headers: length })
  if (pathname.startsWith('/r/'))
    return Response.json({ sha256: await heldHash(request, pathname.endsWith('/slowly')) })
  return Response.json({
    method: request.method,
    url: request.url,
    address: connection.address,
    cookie: request.headers.get('cookie'),
    body: await request.text(),
  })
}

describe.each(WAYS)('requests taken by %s:', (way) => {
  let server: HttpListener
  beforeAll(async () => {
    const options = {
      hostname: '127.0.0.1',
      port: 0,
      quiet: 10,
      kindOf,
      flow,
      way,
    }
    server = await listen(options, answer, pino({ enabled: false }))
  })
  afterAll(() => server.stop(true))

  const address = (path: string) => `http://127.0.0.1:${server.port}${path}`

  describe('a path that streams', () => {
    test('tells the length of the stream before it', async () => {
      const response = await fetch(address('/s/whole'))
      expect(response.headers.get('content-length')).toBe(String(CHUNK.length * CHUNKS))
      expect(response.headers.get('transfer-encoding')).toBeNull()
      expect(Buffer.from(await response.bytes()).equals(Buffer.alloc(CHUNK.length * CHUNKS, 7))).toBe(true)
    })

    test('tells it to HEAD too, without a body', async () => {
      const response = await fetch(address('/s/whole'), { method: 'HEAD' })
      expect(response.headers.get('content-length')).toBe(String(CHUNK.length * CHUNKS))
      expect((await response.bytes()).length).toBe(0)
    })

    test.each([0, 1])(
      'overwrites nothing that is on its way to a reader who waits %d times',
      async (pauses) => {
        const reader = await slowReader(address('/s/filled'))
        for (let pause = 0; pause < pauses; pause++) {
          await reader.readUpTo(1000)
          await Bun.sleep(100)
        }
        const { body, isWhole } = await reader.readOn()
        const expected = Buffer.concat(
          Array.from({ length: FILLED }, (_, chunk) => Buffer.alloc(CHUNK.length, chunk)),
        )
        expect(isWhole).toBe(true)
        expect(expected.equals(body)).toBe(true)
      },
    )

    test('sends what is stored to readers of any speed, and closes it', async () => {
      const expected = Buffer.alloc(FILLED * CHUNK.length)
      for (let at = 0; at < expected.length; at += 1024) expected.fill(at / 1024, at, at + 1024)
      for (const path of ['/s/stored', '/stored']) {
        const readers = await Promise.all([1, 2, 3].map(() => slowReader(address(path))))
        for (const reader of readers) await reader.readUpTo(1000)
        readers[1]?.leave()
        const fast = await fetch(address(path))
        expect(expected.equals(await fast.bytes())).toBe(true)
        for (const reader of [readers[0], readers[2]]) {
          const { body, isWhole } = (await reader?.readOn()) ?? { body: Buffer.of(), isWhole: false }
          expect([isWhole, expected.equals(body)]).toEqual([true, true])
        }
      }
      await eventually('all of it is closed', () => open === 0)
    })

    test('closes what is stored for a reader who left before the answer', async () => {
      for (const path of ['/s/late', '/late']) {
        late = Promise.withResolvers()
        const reader = await slowReader(address(path))
        await eventually('the request has come', () => server.pendingRequests === 1)
        reader.leave()
        await Bun.sleep(100)
        late.resolve()
        await eventually('it is closed', () => open === 0 && server.pendingRequests === 0)
      }
    })

    test.each(['/s/empty', '/empty'])(
      'answers 500 when the body of %s does not come at all',
      async (path) => {
        expect((await fetch(address(path))).status).toBe(500)
      },
    )

    test.each(['/s/short', '/short'])(
      'closes the connection when the body of %s is shorter than its length says',
      async (path) => {
        const client = createConnection({ port: server.port, host: '127.0.0.1' })
        const closed = new Promise((resolve) => client.once('close', resolve))
        client.on('error', () => {})
        client.resume()
        client.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`)
        // Sooner than a connection on which nothing moves.
        expect(await endsWithin(5000, closed)).toBe(true)
      },
    )

    test('gets method, headers, body and address of the request', async () => {
      const response = await fetch(address('/s/echo?a=b'), {
        method: 'POST',
        body: 'hello',
        headers: { cookie: 'a=1' },
      })
      expect(await response.json()).toEqual({
        method: 'POST',
        url: address('/s/echo?a=b'),
        address: '127.0.0.1',
        cookie: 'a=1',
        body: 'hello',
      })
    })

    test('breaks the connection off when the stream fails, so that nobody takes a part for the whole', async () => {
      const before = ended.broken
      const response = await fetch(address('/s/broken'))
      const read = response.bytes().then(
        () => 'whole',
        () => 'broken off',
      )
      expect(await read).toBe('broken off')
      expect(ended.broken).toBe(before + 1)
    })

    test('lets go of the stream when the reader leaves', async () => {
      const before = ended.cancelled
      const socket = createConnection(server.port, '127.0.0.1')
      socket.write('GET /s/endless HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await new Promise((resolve) => socket.once('data', resolve))
      socket.destroy()
      await eventually('the stream is let go of', () => ended.cancelled === before + 1)
    })
  })

  test.each(['/r/once', '/r/slowly'])('%s gets a large body as it was sent, and counts it', async (path) => {
    const sent = crypto.getRandomValues(new Uint8Array(64 * 1024))
    const body = Buffer.concat(Array.from({ length: 128 }, (_, at) => sent.subarray(at * 7)))
    const before = flow.bytes
    const response = await fetch(address(path), { method: 'POST', body })
    expect(await response.json()).toEqual({ sha256: new Bun.SHA256().update(body).digest('hex') })
    expect(flow.bytes - before).toBe(body.length)
  })

  test('every other path is answered beside that on the same port', async () => {
    const response = await fetch(address('/else'), { method: 'PUT', body: 'x' })
    expect(await response.json()).toMatchObject({ method: 'PUT', body: 'x', address: '127.0.0.1' })
  })

  test('slow headers are cut off, however steadily they trickle in', async () => {
    const impatient = await listen(
      { hostname: '127.0.0.1', port: 0, quiet: 1, kindOf, way },
      answer,
      pino({ enabled: false }),
    )
    try {
      const sockets = ['/s/x', '/x'].map((path) => {
        const socket = createConnection(impatient.port, '127.0.0.1')
        socket.on('error', () => {})
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n`)
        return socket
      })
      await eventually('both are closed', () => {
        for (const socket of sockets) if (!socket.destroyed) socket.write('x')
        return sockets.every((socket) => socket.destroyed)
      })
    } finally {
      await impatient.stop(true)
    }
  })
})
