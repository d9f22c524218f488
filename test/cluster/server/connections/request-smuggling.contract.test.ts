import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { pino } from 'pino'
import type { AnswerRequest } from '../../../../src/server/connections/exchange.ts'
import { type HttpListener, listen } from '../../../../src/server/connections/listener.ts'
import { freePort } from '../../../support/processes/free-port.ts'
import { describeWith } from '../../../support/processes/tools.ts'
import { startBalancer } from '../../../support/servers/balancer.ts'
import { type Variant, variants } from './smuggled-requests.ts'

const kindOf = (path: string) => (path.startsWith('/s/') ? 'streaming' : 'plain')

/** What was asked of the server, and with which body; null where the body could not be read. */
const WAYS = ['dispatch', 'node:http'] as const

const asked: { readonly path: string; readonly body: string | null }[] = []

const answer: AnswerRequest = async (request, { hasUrl }) => {
  if (!hasUrl) return new Response(null, { status: 400, headers: { Connection: 'close' } })
  const body = await request.text().catch(() => null)
  asked.push({ path: new URL(request.url).pathname, body })
  return new Response('answered\n')
}

describe.each(WAYS)('requests taken by %s:', (way) => {
  let server: HttpListener
  beforeAll(async () => {
    const options = { hostname: '127.0.0.1', port: 0, quiet: 10, kindOf, way }
    server = await listen(options, answer, pino({ enabled: false }))
  })
  afterAll(() => server.stop(true))

  /** The statuses that come back for the bytes, and for a request that asks for the end of the connection. */
  async function statusesOf(port: number, { bytes }: Variant, path: string): Promise<string[]> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('end', () => resolve())
    socket.on('close', () => resolve())
    socket.write(Buffer.concat([bytes(path), LAST]))
    await promise
    socket.destroy()
    return [...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status = '']) => status)
  }

  const LAST = Buffer.from('GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')

  const paths = [
    ['Bun’s own side', '/x'],
    ['the side that streams', '/s/x'],
  ] as const

  describe.each(paths)('request smuggling, on %s:', (_, path) => {
    test.each(variants.map((variant) => [variant.name, variant] as const))(
      '%s is refused, or read in one way',
      async (_, variant) => {
        asked.length = 0
        const statuses = await statusesOf(server.port, variant, path)
        const read = asked.filter(({ body }) => body !== null)
        if (variant.read.length === 0) {
          expect(read).toEqual([])
          expect(statuses).toEqual(['400'])
        } else {
          const expected = variant.read.map((body) => ({ path, body }))
          expect(read).toEqual([...expected, { path: '/last', body: '' }])
          expect(statuses).toEqual(read.map(() => '200'))
        }
      },
    )
  })

  describeWith(['nginx'], 'request smuggling, behind nginx:', () => {
    test.each(paths)('nginx sees as many requests as are answered, on %s', async (_, path) => {
      const port = await freePort()
      const nginx = await startBalancer(port, [server.port])
      try {
        for (const variant of variants) {
          asked.length = 0
          const statuses = await statusesOf(port, variant, path)
          const read = asked.filter(({ body }) => body !== null)
          // nginx reads some of them as several requests; then each of these has an answer of its own.
          const answered = statuses.filter((status) => status === '200')
          expect(answered.map(() => variant.name)).toEqual(read.map(() => variant.name))
        }
      } finally {
        await nginx.stop()
      }
    })
  })
})
