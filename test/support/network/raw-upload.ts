/** An upload sent over a socket piece by piece, so that a test controls the timing. */
import { connect } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export interface RawUploadOptions {
  readonly key?: string
  readonly name?: string
  /** Length of the content in bytes; null uses chunked encoding without a declared length. */
  readonly size: number | null
  /** Value of X-Folder-ID. */
  readonly folder?: string
  readonly idempotencyKey?: string
}

export interface RawUpload {
  /** Sends bytes of the content; resolves when the system has accepted them. */
  send(content: Uint8Array): Promise<void>
  /** Sends the end of the form and waits for the response. */
  finish(): Promise<RawAnswer>
  /** Rejects when the connection ends without a complete response. */
  readonly answer: Promise<RawAnswer>
  /** Closes the connection in the middle. */
  abort(): void
}

const BOUNDARY = 'holdfast-test-boundary-7d1f0c'
const TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)

/** Connects and sends the request up to the beginning of the content. */
export async function openUpload(url: string, options: RawUploadOptions): Promise<RawUpload> {
  const { hostname, port } = new URL(url)
  const head = Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${options.name ?? 'raw.bin'}"\r\n\r\n`,
  )
  const socket = connect(Number(port), hostname)
  const answer = Promise.withResolvers<RawAnswer>()
  // Avoids an unhandled rejection in tests that do not look at the response.
  answer.promise.catch(() => {})
  let received = Buffer.alloc(0)
  let failure = new Error('the connection ended without an answer')
  socket.on('data', (piece) => {
    received = Buffer.concat([received, Buffer.from(piece)])
    const whole = readAnswer(received)
    if (whole === null) return
    answer.resolve(whole)
    socket.end()
  })
  socket.on('error', (error) => {
    failure = error
  })
  socket.on('close', () => answer.reject(failure))

  const write = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      if (socket.destroyed) return reject(failure)
      const ended = () => reject(failure)
      socket.once('close', ended)
      socket.write(bytes, (error) => {
        socket.off('close', ended)
        if (error) reject(error)
        else resolve()
      })
    })
  const chunk = (bytes: Uint8Array) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
  const send = (bytes: Uint8Array) => write(options.size === null ? chunk(bytes) : bytes)

  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('close', () => reject(failure))
  })
  const length =
    options.size === null
      ? 'Transfer-Encoding: chunked'
      : `Content-Length: ${head.length + options.size + TAIL.length}`
  const lines = [
    'POST /api/v1/upload HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
    length,
    ...(options.key === undefined ? [] : [`Authorization: Bearer ${options.key}`]),
    ...(options.idempotencyKey === undefined ? [] : [`Idempotency-Key: ${options.idempotencyKey}`]),
    ...(options.folder === undefined ? [] : [`X-Folder-ID: ${options.folder}`]),
  ]
  await write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`))
  await send(head)
  return {
    send: (content) => (content.length === 0 ? Promise.resolve() : send(content)),
    async finish() {
      await send(TAIL)
      if (options.size === null) await write(Buffer.from('0\r\n\r\n'))
      return answer.promise
    },
    answer: answer.promise,
    abort: () => socket.destroy(),
  }
}

/** The response, or null while it is incomplete. Responses to uploads always declare their length. */
function readAnswer(received: Buffer): RawAnswer | null {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(first.split(' ')[1])
  // Informational responses, such as 100 Continue, are skipped.
  if (status < 200) return readAnswer(received.subarray(end + 4))
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const body = received.subarray(end + 4)
  if (body.length < Number(headers.get('content-length') ?? 0)) return null
  return { status, headers, body: body.toString('utf8') }
}
