import { connect } from 'node:net'
import { endsWithin } from '../../domain/abort.ts'
import { SECOND } from '../../domain/clock.ts'
import { listenByDispatch } from './dispatch-listener.ts'
import type { AnswerRequest } from './exchange.ts'

/** Milliseconds; generous for busy machines. */
const LONGEST = 5 * SECOND

let result: Promise<Error | null> | null = null

/** Null if this Bun's dispatch behaves as required. Tested once per process, on its own server. */
export function dispatchFault(): Promise<Error | null> {
  result ??= tested().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )
  return result
}

async function tested(): Promise<void> {
  const failures: unknown[] = []
  const left = Promise.withResolvers<void>()
  const listening = {
    hostname: '127.0.0.1',
    port: 0,
    quiet: 10,
    streaming: ['/streaming'],
    receiving: ['/receiving'],
    plain: [],
    flow: null,
    failed: () => new Response(null, { status: 500 }),
    refuse: () => new Response(null, { status: 400 }),
    headWithin: 10,
    ceiling: { most: 10, bucketOf: () => null, refused() {} },
  }
  const failed = (error: unknown) => failures.push(error)
  // Unexpected arguments make Bun's callbacks throw where only these handlers catch.
  process.on('uncaughtException', failed)
  process.on('unhandledRejection', failed)
  try {
    const listener = listenByDispatch(listening, echo(left.resolve), failed)
    try {
      const work = Promise.all([answersInOrder(listener.port), leaves(listener.port), left.promise])
      const isOver = await endsWithin(LONGEST, work)
      if (failures.length > 0) throw new AggregateError(failures, 'answers broke off')
      if (!isOver) throw new Error('requests are not answered')
    } finally {
      await listener.stop(true)
    }
  } finally {
    process.off('uncaughtException', failed)
    process.off('unhandledRejection', failed)
  }
}

/** Returns the body, whole or in pieces; `left` is called when a sender disconnects within its body. */
function echo(left: () => void): AnswerRequest {
  return async (request) => {
    const { pathname } = new URL(request.url)
    let body: string
    try {
      body = `${request.method} ${pathname} ${await request.text()}`
    } catch {
      left()
      return new Response()
    }
    const headers = { 'Content-Length': String(body.length) }
    return new Response(pathname === '/whole' ? body : pieces(body), { headers })
  }
}

function pieces(text: string): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at < text.length) controller.enqueue(Buffer.from(text.slice(at, at + 10)))
      else controller.close()
      at += 10
    },
  })
}

const REQUESTS = [
  ['GET /whole', '', ''],
  ['POST /pieces', 'Content-Length: 5', 'hello'],
  ['PUT /streaming', 'Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
  ['PUT /receiving', 'Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
  ['GET /pieces', 'Connection: close', ''],
] as const
const EXPECTED = [
  'GET /whole ',
  'POST /pieces hello',
  'PUT /streaming hello',
  'PUT /receiving hello',
  'GET /pieces ',
]

async function answersInOrder(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = new Promise((resolve, reject) => {
    socket.once('close', resolve)
    socket.once('error', reject)
  })
  const heads = REQUESTS.map(([line, header, body]) => {
    const headers = ['Host: localhost', ...(header === '' ? [] : [header])]
    return `${line} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`
  })
  socket.write(heads.join(''))
  await closed
  const bodies = bodiesOf(Buffer.concat(chunks).toString())
  if (!Bun.deepEquals(bodies, EXPECTED))
    throw new Error(`requests were answered by ${JSON.stringify(bodies)}`)
}

function bodiesOf(text: string): string[] {
  const bodies: string[] = []
  for (let rest = text; rest !== ''; ) {
    const [head, length] =
      /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*?Content-Length: (\d+)\r\n(?:.+\r\n)*\r\n/i.exec(rest) ?? []
    if (head === undefined) return [...bodies, rest]
    const end = head.length + Number(length)
    bodies.push(rest.slice(head.length, end))
    rest = rest.slice(end)
  }
  return bodies
}

async function leaves(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.write('POST /whole HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhello', resolve)
  })
  socket.destroy()
}
