import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import type { AnswerRequest } from '../../../../src/server/connections/exchange.ts'
import { type HttpListener, listen } from '../../../../src/server/connections/listener.ts'
import { MOST_PIPELINED } from '../../../../src/server/connections/node-dispatch.ts'
import { eventually } from '../../../support/eventually.ts'

const kindOf = (path: string) => (path.startsWith('/s/') ? 'streaming' : 'plain')

const WAYS = ['dispatch', 'node:http'] as const

const PIECE = new Uint8Array(300_000).fill(65)
const LARGE = PIECE.length * 4

/** Which requests were begun, and which of these are not answered yet. */
const begun: string[] = []
const open = new Set<string>()
let mostOpen = 0
/** What slow answers wait for. */
let goOn = Promise.withResolvers<void>()

const answer: AnswerRequest = async (request) => {
  const path = new URL(request.url).pathname
  begun.push(path)
  open.add(path)
  mostOpen = Math.max(mostOpen, open.size)
  const body = path.includes('unread') ? '' : await request.text().catch(() => 'lost')
  if (path.includes('slow')) await goOn.promise
  open.delete(path)
  const text = `${request.method} ${path} ${body};`
  if (path.includes('large')) return new Response(large(), { headers: { 'Content-Length': String(LARGE) } })
  return new Response(text, { headers: { 'Content-Length': String(text.length) } })
}

function large(): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(1)
      if (sent++ < 4) controller.enqueue(PIECE)
      else controller.close()
    },
  })
}

describe.each(WAYS)('requests taken by %s:', (way) => {
  let server: HttpListener
  beforeAll(async () => {
    const options = { hostname: '127.0.0.1', port: 0, quiet: 10, kindOf, way }
    server = await listen(options, answer, pino({ enabled: false }))
  })
  afterAll(() => server.stop(true))

  const get = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
  const put = (path: string, body = 'hello') =>
    `PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`

  interface Reading {
    readonly socket: Socket
    text(): string
    isClosed(): boolean
  }

  async function connected(): Promise<Reading> {
    const socket = connect(server.port, '127.0.0.1')
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    return { socket, text: () => Buffer.concat(chunks).toString(), isClosed: () => socket.destroyed }
  }

  /** The bodies of the answers in their order; each must be as long as its head says, and nothing may lie between them. */
  function bodiesOf(text: string, methods: readonly string[]): string[] {
    const bodies: string[] = []
    let rest = text
    for (const method of methods) {
      expect(rest.slice(0, 15)).toBe('HTTP/1.1 200 OK')
      const end = rest.indexOf('\r\n\r\n') + 4
      const length = Number(/^content-length: (\d+)/im.exec(rest.slice(0, end))?.[1])
      const bodyEnd = method === 'HEAD' ? end : end + length
      bodies.push(rest.slice(end, bodyEnd))
      rest = rest.slice(bodyEnd)
    }
    expect(rest).toBe('')
    return bodies
  }

  /** Sends the pieces, lets the slow answers go on when all has been sent, and reads what comes back for each method. */
  async function exchanged(pieces: readonly string[], methods: readonly string[]): Promise<string[]> {
    goOn = Promise.withResolvers()
    begun.length = 0
    open.clear()
    mostOpen = 0
    const { socket, text } = await connected()
    for (const piece of pieces) {
      socket.write(piece)
      await Bun.sleep(15)
    }
    goOn.resolve()
    await eventually('all is answered', () => {
      const heads = text().match(/HTTP\/1\.1 /g)?.length ?? 0
      return heads >= methods.length && open.size === 0 && begun.length >= methods.length
    })
    await Bun.sleep(60)
    socket.destroy()
    return bodiesOf(text(), methods)
  }

  const A = 'A'.repeat(LARGE)
  const sides = ['', '/s']
  const pairs = sides.flatMap((first) => sides.map((second) => [first, second] as const))

  describe.each(pairs)('requests to %s/… and then %s/… on one connection, sent before an answer', (a, b) => {
    test('are answered whole and in their order', async () => {
      const asked = [put(`${a}/slow`) + get(`${b}/x`)]
      expect(await exchanged(asked, ['PUT', 'GET'])).toEqual([`PUT ${a}/slow hello;`, `GET ${b}/x ;`])
    })

    test('are answered so when they come in several packets', async () => {
      const asked = [put(`${a}/slow`), get(`${b}/x`), get(`${a}/y`)]
      const expected = [`PUT ${a}/slow hello;`, `GET ${b}/x ;`, `GET ${a}/y ;`]
      expect(await exchanged(asked, ['PUT', 'GET', 'GET'])).toEqual(expected)
    })

    test('are answered one at a time', async () => {
      await exchanged([get(`${a}/slow1`) + put(`${b}/slow2`) + put(`${a}/slow3`)], ['GET', 'PUT', 'PUT'])
      expect(mostOpen).toBe(1)
    })

    test('keep their bodies, whole or in pieces', async () => {
      const first = put(`${b}/x`, '0123456789')
      const asked = [get(`${a}/slow`) + put(`${b}/w`) + first.slice(0, -6), '4567', `89${get(`${b}/y`)}`]
      const expected = [`GET ${a}/slow ;`, `PUT ${b}/w hello;`, `PUT ${b}/x 0123456789;`, `GET ${b}/y ;`]
      expect(await exchanged(asked, ['GET', 'PUT', 'PUT', 'GET'])).toEqual(expected)
    })

    test('come behind a large body that nobody reads', async () => {
      const asked = [put(`${a}/unread`, A) + get(`${b}/x`)]
      expect(await exchanged(asked, ['PUT', 'GET'])).toEqual([`PUT ${a}/unread ;`, `GET ${b}/x ;`])
    })

    test('get the rest of a body that comes after the answer before it', async () => {
      goOn = Promise.withResolvers()
      const { socket, text } = await connected()
      socket.write(get(`${a}/slow`) + put(`${b}/x`, '0123456789').slice(0, -6))
      await Bun.sleep(15)
      goOn.resolve()
      await eventually('the first is answered', () => text().includes('/slow ;'))
      await Bun.sleep(15)
      socket.write(`456789${get(`${a}/y`)}`)
      await eventually('all is answered', () => text().includes('/y ;'))
      socket.destroy()
      const expected = [`GET ${a}/slow ;`, `PUT ${b}/x 0123456789;`, `GET ${a}/y ;`]
      expect(bodiesOf(text(), ['GET', 'PUT', 'GET'])).toEqual(expected)
    })

    test('wait for a large answer, and for the head alone', async () => {
      const asked = [get(`${a}/large`) + get(`${b}/z`), get(`${a}/x`, 'HEAD') + get(`${b}/y`)]
      const expected = [A, `GET ${b}/z ;`, '', `GET ${b}/y ;`]
      expect(await exchanged(asked, ['GET', 'GET', 'HEAD', 'GET'])).toEqual(expected)
    })

    test('do no harm when the client leaves', async () => {
      for (let times = 0; times < 20; times++) {
        const { socket } = await connected()
        socket.write(get(`${a}/large`) + get(`${b}/x`) + put(`${a}/slow`))
        await Bun.sleep(times % 3)
        socket.destroy()
      }
      goOn.resolve()
      expect(await exchanged([get(`${a}/x`)], ['GET'])).toEqual([`GET ${a}/x ;`])
    })
  })

  test('a connection takes no more requests than may wait, and ends after the last answer', async () => {
    goOn = Promise.withResolvers()
    begun.length = 0
    const { socket, text, isClosed } = await connected()
    socket.write(get('/slow') + get('/x').repeat(5000))
    await Bun.sleep(30)
    expect(begun).toEqual(['/slow'])
    goOn.resolve()
    await eventually('the connection is closed', isClosed)
    expect(
      bodiesOf(
        text(),
        Array.from({ length: MOST_PIPELINED + 1 }, () => 'GET'),
      ),
    ).toHaveLength(MOST_PIPELINED + 1)
    expect(begun).toHaveLength(MOST_PIPELINED + 1)
    socket.destroy()
  })

  test('nothing is answered after a request that asks for the end of the connection', async () => {
    const { socket, text, isClosed } = await connected()
    socket.write(`GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n${get('/y')}`)
    await eventually('the connection is closed', isClosed)
    expect(bodiesOf(text(), ['GET'])).toEqual(['GET /x ;'])
    socket.destroy()
  })
})
