import { Refusal } from '../domain/errors.ts'
import { formatSize } from '../domain/sizes.ts'
import { type BoundaryLine, readBoundaryLine } from './boundary.ts'
import { malformed, type PartHeaders, parsePartHeaders, quotedField } from './part-headers.ts'

/** Where a body comes from, chunk by chunk; the reader of a stream is one. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  /** Nobody wants the rest. */
  cancel(reason: unknown): Promise<void>
}

/** What becomes of the parts. */
export interface PartHandler {
  /** Whether the sender percent-encodes file names. */
  readonly escapesNames?: boolean
  /**
   * Called once for each part, in order, before its bytes, which begin `offset` bytes into the body. Returns a
   * sink for them, or null to skip them.
   */
  part(headers: PartHeaders, offset: number): Promise<PartSink | null> | PartSink | null
}

/** Takes the bytes of one part, one call at a time. */
export interface PartSink {
  /** The chunk may be a view of a bigger buffer; the sink is done with it once its promise is settled. */
  write(chunk: Uint8Array): Promise<void> | void
  /** The part is whole. What follows it in the body may still turn out to be malformed. */
  end(): Promise<void> | void
}

/**
 * What a form may weigh beside the parts that are taken: boundaries, headers, and parts that are skipped. There may be any
 * number of them.
 */
export const MOST_BESIDE = 1024 * 1024

const MAX_HEADERS = 16 * 1024
const MAX_PREAMBLE = 16 * 1024
const MAX_PADDING = 1024

const CR = 13

/**
 * Reads a multipart/form-data body (RFC 7578, RFC 2046) and hands each part to the handler as it streams by.
 * Nothing is read while a sink is busy, and content is passed on as views of the chunks it came in.
 *
 * Text after the boundary that RFC 2046 does not allow there makes the line content, not a delimiter.
 *
 * Throws Refusal INVALID_REQUEST for a malformed body, and PAYLOAD_TOO_LARGE, which names the part, for one with more than
 * `MOST_BESIDE` that is not taken. What the handler, a sink or the body itself throws passes through. After any of these the body is cancelled, and the sink at work gets no `end`: whatever the
 * sinks were given counts only when this function has returned.
 */
export async function scanMultipart(body: BodyReader, boundary: string, handler: PartHandler): Promise<void> {
  const scan = new Scan(boundary, handler)
  try {
    for (;;) {
      const { done, value } = await body.read()
      if (done || value === undefined) break
      await scan.take(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
    }
    await scan.finish()
  } catch (error) {
    // Not awaited: a source that is slow to stop must not hold back the error, which matters more than its own.
    body.cancel(error).catch(() => {})
    throw error
  }
}

/** One body on its way through. Bytes come in chunks of any size; every stage can stop and go on at any byte. */
class Scan {
  /** CRLF, two hyphens and the boundary. A CR stands only at its start, so no occurrence overlaps another. */
  readonly #delimiter: Buffer
  readonly #handler: PartHandler
  readonly #headers = Buffer.allocUnsafe(MAX_HEADERS)
  #stage: 'content' | 'delimiter' | 'headers' | 'epilogue' = 'content'
  #sink: PartSink = preamble()
  #parts = 0
  /** How many bytes of a delimiter the content so far ends with. The body's own start counts as a line's. */
  #held = 2
  #line: BoundaryLine = 'bare'
  /** What has come behind the delimiter so far; content, should the line turn out not to be one. */
  #rest = ''
  #headersLength = 0
  /** Bytes of the body in the chunks before this one. */
  #passed = 0
  /** Bytes that the sinks of parts were given. */
  #taken = 0
  #isTaking = false
  /** Name of the latest part. */
  #field = ''

  constructor(boundary: string, handler: PartHandler) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#handler = handler
  }

  async take(chunk: Buffer): Promise<void> {
    let at = 0
    while (at < chunk.length && this.#stage !== 'epilogue') {
      switch (this.#stage) {
        case 'content':
          at = await this.#content(chunk, at)
          break
        case 'delimiter':
          at = await this.#delimiterLine(chunk, at)
          break
        case 'headers':
          at = await this.#partHeaders(chunk, at)
          break
      }
    }
    // What follows the last boundary is dropped, and counts for nothing.
    this.#passed += at
    this.#assertLittleBeside(this.#passed)
  }

  #assertLittleBeside(passed: number): void {
    if (passed - this.#taken <= MOST_BESIDE) return
    const most = `a form may have ${formatSize(MOST_BESIDE)} at most beside its file`
    throw new Refusal('PAYLOAD_TOO_LARGE', `The field ${quotedField(this.#field)} is too much: ${most}`)
  }

  #write(bytes: Uint8Array): Promise<void> | void {
    if (this.#isTaking) this.#taken += bytes.byteLength
    return this.#sink.write(bytes)
  }

  /** The body is over. */
  async finish(): Promise<void> {
    if (this.#stage === 'epilogue') return
    if (this.#stage === 'delimiter' && this.#line === 'closing') return this.#close()
    if (this.#parts === 0) throw malformed('it has no part that begins with its boundary')
    throw malformed('it ends before its final boundary')
  }

  async #content(chunk: Buffer, start: number): Promise<number> {
    if (this.#held > 0) {
      const end = Math.min(chunk.length, start + this.#delimiter.length - this.#held)
      if (this.#matches(chunk, start, end, this.#held)) {
        this.#held += end - start
        if (this.#held === this.#delimiter.length) this.#enterDelimiter()
        return end
      }
      const held = this.#held
      this.#held = 0
      await this.#write(new Uint8Array(this.#delimiter.subarray(0, held)))
    }
    const found = this.#find(chunk, start)
    const end = found < 0 ? this.#lookAlikeAtEnd(chunk, start) : found
    if (end > start) await this.#write(chunk.subarray(start, end))
    if (found < 0) {
      this.#held = chunk.length - end
      return chunk.length
    }
    this.#enterDelimiter()
    return found + this.#delimiter.length
  }

  /** The first delimiter that this chunk alone does not show to be content; -1 when there is none. */
  #find(chunk: Buffer, start: number): number {
    let found = chunk.indexOf(this.#delimiter, start)
    while (found >= 0) {
      let at = found + this.#delimiter.length
      const limit = Math.min(chunk.length, at + MAX_PADDING + 1)
      let line: BoundaryLine = 'bare'
      while (at < limit && (line === 'bare' || line === 'padding' || line === 'hyphen')) {
        line = readBoundaryLine(line, chunk[at++] ?? 0)
      }
      if (line !== 'content') break
      found = chunk.indexOf(this.#delimiter, at - 1)
    }
    return found
  }

  /** Where in the chunk a delimiter begins that the next chunk may complete; the chunk's length if nowhere. */
  #lookAlikeAtEnd(chunk: Buffer, start: number): number {
    const tail = Math.max(start, chunk.length - this.#delimiter.length + 1)
    const last = chunk.subarray(tail).lastIndexOf(CR)
    return last >= 0 && this.#matches(chunk, tail + last, chunk.length, 0) ? tail + last : chunk.length
  }

  #matches(chunk: Buffer, start: number, end: number, from: number): boolean {
    return chunk.compare(this.#delimiter, from, from + end - start, start, end) === 0
  }

  #enterDelimiter(): void {
    this.#held = 0
    this.#line = 'bare'
    this.#rest = ''
    this.#stage = 'delimiter'
  }

  async #delimiterLine(chunk: Buffer, start: number): Promise<number> {
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0
      this.#line = readBoundaryLine(this.#line, byte)
      switch (this.#line) {
        case 'part':
          await this.#nextPart()
          return at + 1
        case 'closed':
          await this.#close()
          return at + 1
        case 'content':
          // No delimiter begins in what is passed on here: none of it is a CR.
          this.#stage = 'content'
          await this.#write(Buffer.concat([this.#delimiter, Buffer.from(this.#rest, 'latin1')]))
          return at
      }
      this.#rest += String.fromCharCode(byte)
      if (this.#rest.length > MAX_PADDING) throw malformed('a boundary line is too long')
    }
    return chunk.length
  }

  async #nextPart(): Promise<void> {
    await this.#sink.end()
    this.#parts += 1
    this.#headersLength = 0
    this.#stage = 'headers'
  }

  async #close(): Promise<void> {
    if (this.#parts === 0) throw malformed('it has no parts')
    await this.#sink.end()
    this.#stage = 'epilogue'
  }

  async #partHeaders(chunk: Buffer, start: number): Promise<number> {
    const before = this.#headersLength
    const length = before + chunk.copy(this.#headers, before, start)
    const end = this.#headers.subarray(0, length).indexOf('\r\n\r\n', Math.max(0, before - 3))
    if (end < 0) {
      if (length === MAX_HEADERS) throw malformed(`the headers of a part are over ${MAX_HEADERS} bytes`)
      this.#headersLength = length
      return chunk.length
    }
    const at = start + end + 4 - before
    const headers = parsePartHeaders(this.#headers.subarray(0, end), this.#handler.escapesNames)
    this.#field = headers.name
    this.#assertLittleBeside(this.#passed + at)
    const sink = await this.#handler.part(headers, this.#passed + at)
    this.#isTaking = sink !== null
    this.#sink = sink ?? skipped
    this.#stage = 'content'
    return at
  }
}

const skipped: PartSink = { write() {}, end() {} }

/** What comes before the first boundary is dropped, but not without end. */
function preamble(): PartSink {
  // The line break that the body is taken to start with is counted when it turns out not to lead to a boundary.
  let left = MAX_PREAMBLE + 2
  return {
    write(chunk) {
      left -= chunk.length
      if (left < 0) throw malformed(`its boundary does not come within the first ${MAX_PREAMBLE} bytes`)
    },
    end() {},
  }
}
