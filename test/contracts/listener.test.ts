import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createConnection } from 'node:net'
import type { Server } from 'bun'
import { pino } from 'pino'
import { type Answer, listen } from '../../src/http/listener.ts'
import { eventually } from '../support/eventually.ts'
import { slowReader } from '../support/slow-reader.ts'

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

const answer: Answer = async (request, connection) => {
  const { pathname } = new URL(request.url)
  const length = { 'Content-Length': String(CHUNK.length * CHUNKS) }
  if (pathname.endsWith('/whole')) return new Response(stream(CHUNKS), { headers: length })
  if (pathname.endsWith('/filled')) return new Response(fillingStream(FILLED), { headers: filledLength })
  if (pathname.endsWith('/endless')) return new Response(stream(Number.POSITIVE_INFINITY))
  if (pathname.endsWith('/broken')) return new Response(stream(CHUNKS, 3), { headers: length })
  return Response.json({
    method: request.method,
    url: request.url,
    address: connection.address,
    cookie: request.headers.get('cookie'),
    body: await request.text(),
  })
}

let server: Server<undefined>
beforeAll(() => {
  const options = { hostname: '127.0.0.1', port: 0, quiet: 10, streaming: ['/s/:name'] }
  server = listen(options, answer, pino({ enabled: false }))
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
    const response = await fetch(address('/s/broken'))
    const read = response.bytes().then(
      () => 'whole',
      () => 'broken off',
    )
    expect(await read).toBe('broken off')
    expect(ended.broken).toBe(1)
  })

  test('lets go of the stream when the reader leaves', async () => {
    const before = ended.cancelled
    const socket = createConnection(server.port ?? 0, '127.0.0.1')
    socket.write('GET /s/endless HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
    await eventually('the stream is let go of', () => ended.cancelled === before + 1)
  })
})

test('every other path is answered beside that on the same port', async () => {
  const response = await fetch(address('/else'), { method: 'PUT', body: 'x' })
  expect(await response.json()).toMatchObject({ method: 'PUT', body: 'x', address: '127.0.0.1' })
})

test('slow headers are cut off, however steadily they trickle in', async () => {
  const impatient = listen(
    { hostname: '127.0.0.1', port: 0, quiet: 1, streaming: ['/s/:name'] },
    answer,
    pino({ enabled: false }),
  )
  try {
    const sockets = ['/s/x', '/x'].map((path) => {
      const socket = createConnection(impatient.port ?? 0, '127.0.0.1')
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
