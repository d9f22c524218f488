import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { pino } from 'pino'
import type { AnswerRequest, Sent } from '../../../src/server/connections/exchange.ts'
import { type HttpListener, listen } from '../../../src/server/connections/listener.ts'
import { eventually } from '../../support/eventually.ts'

const kindOf = (path: string) => (path.startsWith('/s/') ? 'streaming' : 'plain')

const WAYS = ['dispatch', 'node:http'] as const

const PIECE = new Uint8Array(256 * 1024)
const PIECES = 400
const DECLARED = PIECE.length * PIECES

/** What was told of each answer, by its path. */
const told = new Map<string, Sent>()

const answer: AnswerRequest = async (request, connection) => {
  const { pathname } = new URL(request.url)
  connection.whenOver((sent) => told.set(pathname, sent))
  if (pathname.endsWith('small')) return new Response('12345', { headers: { 'Content-Length': '5' } })
  const breaksAfter = pathname.endsWith('broken') ? 0 : PIECES
  return new Response(pieces(breaksAfter), { headers: { 'Content-Length': String(DECLARED) } })
}

function pieces(breaksAfter: number): ReadableStream<Uint8Array> {
  let given = 0
  return new ReadableStream({
    pull(controller) {
      if (given === breaksAfter && given < PIECES) controller.error(new Error('the store is away'))
      else if (given++ < PIECES) controller.enqueue(PIECE)
      else controller.close()
    },
  })
}

describe.each(WAYS)('requests taken by %s:', (way) => {
  let server: HttpListener
  beforeAll(async () => {
    const failed = () => new Response('it failed', { status: 503 })
    const options = { hostname: '127.0.0.1', port: 0, quiet: 10, kindOf, way, failed }
    server = await listen(options, answer, pino({ enabled: false }))
  })
  afterAll(() => server.stop(true))

  async function toldOf(path: string): Promise<Sent> {
    await eventually('it is told', () => told.has(path))
    return told.get(path) ?? { status: 0, bytes: 0 }
  }

  describe.each(['', '/s'])('of an answer to %s/… is told', (side) => {
    const address = (name: string) => `http://127.0.0.1:${server.port}${side}/${name}`

    test('how much was sent, when all was', async () => {
      await (await fetch(address('small'))).text()
      expect(await toldOf(`${side}/small`)).toEqual({ status: 200, bytes: 5 })
      expect((await (await fetch(address('whole'))).bytes()).length).toBe(DECLARED)
      expect(await toldOf(`${side}/whole`)).toEqual({ status: 200, bytes: DECLARED })
    })

    test('nothing, for the head alone', async () => {
      await fetch(address('head'), { method: 'HEAD' })
      expect(await toldOf(`${side}/head`)).toEqual({ status: 200, bytes: 0 })
    })

    test('what was sent of a download that broke off, not what was declared', async () => {
      const socket = connect(server.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(`GET ${side}/left HTTP/1.1\r\nHost: a\r\n\r\n`)
      await new Promise((resolve) => socket.once('data', resolve))
      socket.pause()
      await Bun.sleep(50)
      socket.destroy()
      const { status, bytes } = await toldOf(`${side}/left`)
      expect(status).toBe(200)
      expect(bytes).toBeGreaterThan(0)
      expect(bytes).toBeLessThan(DECLARED)
    })

    test('the status that was sent when the body fails before its first byte', async () => {
      const response = await fetch(address('broken'))
      expect([response.status, await response.text()]).toEqual([503, 'it failed'])
      expect(await toldOf(`${side}/broken`)).toEqual({ status: 503, bytes: 9 })
    })
  })
})
