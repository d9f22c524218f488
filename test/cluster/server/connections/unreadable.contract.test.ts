/** What is no request: it is told why, after the answers to the requests before it, or cut off when it takes too long. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import type { AnswerRequest } from '../../../../src/server/connections/exchange.ts'
import { type HttpListener, listen } from '../../../../src/server/connections/listener.ts'
import { eventually } from '../../../support/eventually.ts'

const kindOf = (path: string) => (path.startsWith('/s/') ? 'streaming' : 'plain')

const WAYS = ['dispatch', 'node:http'] as const

const MOST = 5

function refusal(refused: string): Response {
  const text = JSON.stringify({ refused })
  const headers = { Connection: 'close', 'Content-Length': String(text.length) }
  return new Response(text, { status: 400, headers })
}

const answer: AnswerRequest = async (request, { hasUrl }) => {
  if (!hasUrl) return refusal('address')
  const body = await request.text().catch(() => null)
  await Bun.sleep(30)
  return new Response(body === null ? 'lost' : 'answered', { headers: { 'Content-Length': '8' } })
}

describe.each(WAYS)('requests taken by %s:', (way) => {
  let server: HttpListener
  let refused = 0
  beforeAll(async () => {
    const options = { hostname: '127.0.0.1', port: 0, quiet: 60, kindOf, way, headWithin: 1 }
    const ceiling = {
      most: MOST,
      bucketOf: (address: string) => address,
      refused: () => void refused++,
    }
    server = await listen({ ...options, refuse: refusal, ceiling }, answer, pino({ enabled: false }))
  })
  afterAll(() => server.stop(true))

  interface Reading {
    readonly socket: Socket
    text(): string
  }

  async function sent(bytes: string): Promise<Reading> {
    const socket = connect(server.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write(bytes)
    return { socket, text: () => text }
  }

  async function answeredTo(bytes: string): Promise<string> {
    const { socket, text } = await sent(bytes)
    await eventually('the connection is closed', () => socket.destroyed)
    return text()
  }

  const GOOD = 'HTTP/1.1 200 OK\r\n'

  describe.each(['/x', '/s/x'])('at %s', (path) => {
    const get = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
    const heads = [
      ['an unknown method', `FOO ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, 'malformed'],
      ['a header that is none', `GET ${path} HTTP/1.1\r\nHost: a\r\nno header\r\n\r\n`, 'malformed'],
      [
        'a head that is too large',
        `GET ${path} HTTP/1.1\r\nHost: a\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
        'large head',
      ],
      ['no Host', `GET ${path} HTTP/1.1\r\n\r\n`, 'address'],
      ['an empty Host', `GET ${path} HTTP/1.1\r\nHost:\r\n\r\n`, 'address'],
    ] as const

    test.each(heads)('%s is told why', async (_, bytes, why) => {
      const text = await answeredTo(bytes)
      expect(text).toStartWith('HTTP/1.1 400 ')
      expect(text).toEndWith(JSON.stringify({ refused: why }))
      expect(text).toContain('Connection: close')
    })

    test.each(heads)('%s is told so after the answer to the request before it', async (_, bytes, why) => {
      const text = await answeredTo(get + bytes)
      expect(text).toStartWith(GOOD)
      expect(text).toContain('answeredHTTP/1.1 400 ')
      expect(text).toEndWith(JSON.stringify({ refused: why }))
    })

    test('an expectation that nobody knows is told', async () => {
      const { socket, text } = await sent(
        `PUT ${path} HTTP/1.1\r\nHost: a\r\nExpect: the unexpected\r\nContent-Length: 2\r\n\r\n{}`,
      )
      await eventually('it is told', () =>
        text().endsWith(JSON.stringify({ refused: 'unknown expectation' })),
      )
      socket.destroy()
    })

    test('a body that cannot be read ends its request, and is told why', async () => {
      const text = await answeredTo(
        `PUT ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\n`,
      )
      expect(text).toStartWith('HTTP/1.1 400 ')
      expect(text).toEndWith(JSON.stringify({ refused: 'malformed' }))
    })

    test('a head that trickles in is cut off, the first and a later one', async () => {
      for (const before of ['', get]) {
        const { socket, text } = await sent(`${before}GET ${path} HTTP/1.1\r\nHost: a\r\n`)
        await eventually('it is cut off', () => {
          if (!socket.destroyed) socket.write('x')
          return socket.destroyed
        })
        expect(text().startsWith(GOOD)).toBe(before !== '')
      }
    })

    test('a connection that waits for its next request is kept', async () => {
      const { socket, text } = await sent(get)
      await Bun.sleep(2500)
      expect(socket.destroyed).toBe(false)
      socket.write(get)
      await eventually('it is answered again', () => text().match(/answered/g)?.length === 2)
      socket.destroy()
    })
  })

  test('one address has no more connections than its ceiling, and gets others when some have ended', async () => {
    const get = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'
    const readings = await Promise.all(Array.from({ length: MOST + 3 }, () => sent(get)))
    const answered = () => readings.filter(({ text }) => text().includes('answered')).length
    await eventually(
      'the others are closed',
      () => readings.filter(({ socket }) => socket.destroyed).length === 3,
    )
    await eventually('those that stay are answered', () => answered() === MOST)
    expect(refused).toBe(3)
    for (const { socket } of readings) socket.destroy()
    await eventually('there is room again', async () => {
      const { socket, text } = await sent(get)
      await Bun.sleep(100)
      socket.destroy()
      return text().includes('answered')
    })
  })
})
