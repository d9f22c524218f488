/**
 * Flow control of uploads by HTTP/2: a proxy grants credit for so many bytes, and more only as it reads. On a
 * long line only this bounds an upload, and tests beside the proxy do not show it. So this counts the bytes
 * of a round trip instead of their time.
 */

import { connect, type TLSSocket } from 'node:tls'
import { PROBE_HEADER } from '../../contract/health.ts'
import { SECOND } from '../../domain/clock.ts'
import { formatSize } from '../../domain/sizes.ts'
import { type Finding, fine, problem, say, unknown } from './findings.ts'
import { linesFor, proxyLines } from './proxy-lines.ts'
import { PROBE, type ProbePath, portOf, serverName } from './raw-request.ts'

/** Milliseconds there and back: another continent, or a mobile network. */
const LONG_LINE = 150
/** Bytes: 3.5 MB/s on the long line. Usual windows are 64 KiB and 1 MiB. */
const ENOUGH = 512 * 1024

const ROUNDS = 6
/** Milliseconds without new credit, beside the round trip, that end a round. */
const QUIET = 120
const MAY_TAKE = 15 * SECOND
/** Bytes. */
const MOST = 2 * 1024 * 1024

/** Empty where the address does not speak HTTP/2. */
export async function checkUploadWindow(way: ProbePath): Promise<Finding[]> {
  const check = 'upload-window'
  if (way.url.protocol !== 'https:') return []
  const measured = await measure(way).catch((error: Error) => error)
  if (measured instanceof Error) return [unknown(check, say`an upload by HTTP/2 ended: ${measured.message}`)]
  if (measured === null) return []
  const rate = formatSize((measured.window * SECOND) / LONG_LINE)
  const what = say`by HTTP/2 an upload may be ${formatSize(measured.window)} ahead: up to ${rate} a second over a line of ${LONG_LINE} ms (${Math.ceil(measured.roundTrip)} ms from here)`
  if (measured.window >= ENOUGH) return [fine(check, what)]
  const why = say`Browsers use HTTP/2, and the proxy lets them send no more until it has read that: over a long line uploads crawl, however fast it is.`
  return [problem(check, what, why, linesFor(proxyLines.uploadWindow, way.proxy))]
}

interface Measured {
  /** Bytes. */
  readonly window: number
  /** Milliseconds. */
  readonly roundTrip: number
}

/** Null without HTTP/2. Throws where the upload ends before a second round trip. */
async function measure(way: ProbePath): Promise<Measured | null> {
  const socket = await open(way.url)
  if (socket.alpnProtocol !== 'h2') {
    socket.destroy()
    return null
  }
  const timer = setTimeout(() => socket.destroy(new Error(`no end in ${MAY_TAKE / SECOND} s`)), MAY_TAKE)
  try {
    const upload = new Upload(socket)
    await upload.begin(way)
    const roundTrip = await upload.roundTrip()
    const rounds: number[] = []
    while (rounds.length < ROUNDS && !upload.isOver) {
      const sent = upload.sendCredit()
      if (sent > 0) rounds.push(sent)
      // A busy proxy may take longer for its first credit.
      else if (rounds.length > 1) break
      await upload.quiet(roundTrip * 1.5 + QUIET)
    }
    upload.end()
    const later = rounds.slice(1)
    if (later.length === 0) throw upload.failure ?? new Error('it was answered before its body was read')
    return { window: Math.max(...later), roundTrip }
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

function open(url: URL): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: portOf(url),
    servername: serverName(host),
    // An invalid certificate is a finding of its own.
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
  })
  socket.once('secureConnect', () => resolve(socket))
  socket.once('error', reject)
  return promise
}

/** RFC 9113, section 6. */
const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const
const ACK = 0x1
const END_STREAM = 0x1
const END_HEADERS = 0x4
const INITIAL_WINDOW_SIZE = 4
const FIRST_WINDOW = 65_535
const LARGEST_FRAME = 16_384
const HEAD = 9
const STREAM = 1

/** One request on its own connection: as much HTTP/2 as it takes, since no client library exposes its credit. */
class Upload {
  failure: Error | null = null
  readonly #socket: TLSSocket
  #received = Buffer.alloc(0)
  #credit = { connection: FIRST_WINDOW, stream: FIRST_WINDOW }
  #isAnswered = false
  #creditedAt = 0
  readonly #settings = Promise.withResolvers<void>()
  #pong = Promise.withResolvers<void>()

  constructor(socket: TLSSocket) {
    this.#socket = socket
    this.#settings.promise.catch(() => {})
    this.#pong.promise.catch(() => {})
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  get isOver(): boolean {
    return this.#isAnswered || this.failure !== null
  }

  async begin({ url, token }: ProbePath): Promise<void> {
    this.#socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    this.#send(FRAME.settings, 0, 0, Buffer.alloc(0))
    await this.#settings.promise
    const fields = {
      ':method': 'PUT',
      ':scheme': 'https',
      ':authority': url.host,
      ':path': PROBE,
      [PROBE_HEADER.toLowerCase()]: token,
      'content-type': 'application/octet-stream',
    }
    const block = Buffer.concat(Object.entries(fields).map(([name, value]) => literal(name, value)))
    this.#send(FRAME.headers, END_HEADERS, STREAM, block)
  }

  /** Milliseconds, by a ping. */
  async roundTrip(): Promise<number> {
    const began = performance.now()
    this.#pong = Promise.withResolvers<void>()
    this.#send(FRAME.ping, 0, 0, Buffer.alloc(8))
    await this.#pong.promise
    return performance.now() - began
  }

  /** Returns the number of bytes. */
  sendCredit(): number {
    const bytes = Math.min(this.#credit.connection, this.#credit.stream, MOST)
    for (let left = bytes; left > 0; left -= LARGEST_FRAME) {
      this.#send(FRAME.data, 0, STREAM, Buffer.alloc(Math.min(left, LARGEST_FRAME)))
    }
    if (bytes <= 0) return 0
    this.#credit.connection -= bytes
    this.#credit.stream -= bytes
    return bytes
  }

  async quiet(milliseconds: number): Promise<void> {
    this.#creditedAt = performance.now()
    for (;;) {
      const rest = this.#creditedAt + milliseconds - performance.now()
      if (rest <= 0 || this.isOver) return
      await Bun.sleep(rest)
    }
  }

  end(): void {
    if (!this.isOver) this.#send(FRAME.data, END_STREAM, STREAM, Buffer.alloc(0))
  }

  #send(type: number, flags: number, stream: number, payload: Buffer): void {
    const head = Buffer.alloc(HEAD)
    head.writeUIntBE(payload.length, 0, 3)
    head.writeUInt8(type, 3)
    head.writeUInt8(flags, 4)
    head.writeUInt32BE(stream, 5)
    if (!this.#socket.destroyed) this.#socket.write(Buffer.concat([head, payload]))
  }

  #take(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    while (this.#received.length >= HEAD) {
      const end = HEAD + this.#received.readUIntBE(0, 3)
      if (this.#received.length < end) return
      const frame = this.#received.subarray(0, end)
      this.#received = this.#received.subarray(end)
      this.#handle(frame.readUInt8(3), frame.readUInt8(4), frame.readUInt32BE(5), frame.subarray(HEAD))
    }
  }

  #handle(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === FRAME.settings && (flags & ACK) === 0) {
      for (let at = 0; at + 6 <= payload.length; at += 6) {
        if (payload.readUInt16BE(at) === INITIAL_WINDOW_SIZE)
          this.#credit.stream += payload.readUInt32BE(at + 2) - FIRST_WINDOW
      }
      this.#send(FRAME.settings, ACK, 0, Buffer.alloc(0))
      this.#settings.resolve()
    } else if (type === FRAME.windowUpdate && payload.length === 4) {
      this.#credit[stream === 0 ? 'connection' : 'stream'] += payload.readUInt32BE(0) & 0x7fffffff
      this.#creditedAt = performance.now()
    } else if (type === FRAME.ping) {
      if ((flags & ACK) === 0) this.#send(FRAME.ping, ACK, 0, payload)
      else this.#pong.resolve()
    } else if (type === FRAME.headers) this.#isAnswered = true
    else if (type === FRAME.reset || type === FRAME.goAway) this.#fail(new Error('the proxy has ended it'))
  }

  #fail(error: Error): void {
    this.failure ??= error
    this.#settings.reject(error)
    this.#pong.reject(error)
  }
}

/** A literal header without indexing or Huffman coding (RFC 7541, 6.2.2). */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), text(name), text(value)])
}

function text(written: string): Buffer {
  const bytes = Buffer.from(written, 'latin1')
  return Buffer.concat([whole(bytes.length), bytes])
}

/** An integer with a prefix of 7 bits (RFC 7541, 5.1). */
function whole(value: number): Buffer {
  if (value < 127) return Buffer.of(value)
  const bytes = [127]
  let rest = value - 127
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128)
  return Buffer.of(...bytes, rest)
}
