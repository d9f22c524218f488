import { Refusal } from '../domain/errors.ts'
import { formatSize } from '../domain/sizes.ts'
import { type BoundaryLine, readBoundaryLine } from './boundary.ts'
import { malformed, type PartHeaders, parsePartHeaders, quotedField } from './part-headers.ts'

export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel(reason: unknown): Promise<void>
}

export interface PartHandler {
  readonly escapesNames?: boolean
  /** Called in order, before the part's bytes, which begin at `offset` of the body. Null skips them. */
  part(headers: PartHeaders, offset: number): Promise<PartSink | null> | PartSink | null
}

export interface PartSink {
  /** One call at a time. The chunk may be a view, and may be reused once the promise is settled. */
  write(chunk: Uint8Array): Promise<void> | void
  /** The part is whole. What follows it may still be malformed. */
  end(): Promise<void> | void
}

/** Bytes of boundaries, headers and skipped parts, in any number. */
export const MOST_BESIDE = 1024 * 1024

const MAX_HEADERS = 16 * 1024
const MAX_PREAMBLE = 16 * 1024
const MAX_PADDING = 1024

const CR = 13

/**
 * Streams a multipart/form-data body (RFC 7578, RFC 2046); reads nothing while a sink is busy. Text after the boundary
 * that RFC 2046 does not allow there makes the line content. Throws Refusal INVALID_REQUEST, and PAYLOAD_TOO_LARGE for
 * more than `MOST_BESIDE`; other errors pass through. After any of these the body is cancelled, and the current sink
 * gets no `end`: what the sinks got counts only once this function has returned.
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
    // Not awaited: a slow source must not hold back this error.
    body.cancel(error).catch(() => {})
    throw error
  }
}

/** Chunks have any size; every stage can stop and continue at any byte. */
class Scan {
  /** A CR stands only at its start, so no occurrence overlaps another. */
  readonly #delimiter: Buffer
  readonly #handler: PartHandler
  readonly #headers = Buffer.allocUnsafe(MAX_HEADERS)
  #stage: 'content' | 'delimiter' | 'headers' | 'epilogue' = 'content'
  #sink: PartSink = preamble()
  #parts = 0
  /** Length of the delimiter's prefix that ends the content. The body's start counts as a line's. */
  #held = 2
  #line: BoundaryLine = 'bare'
  /** Becomes content if the line turns out not to be a boundary. */
  #rest = ''
  #headersLength = 0
  #passed = 0
  #taken = 0
  #isTaking = false
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
    // The epilogue is dropped, and not counted.
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

  /** The first delimiter not ruled out by this chunk; -1 for none. */
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

  /** The chunk's length for none. */
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
          // The passed bytes have no CR, so no delimiter begins in them.
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

function preamble(): PartSink {
  // The assumed line break at the body's start counts when no boundary follows it.
  let left = MAX_PREAMBLE + 2
  return {
    write(chunk) {
      left -= chunk.length
      if (left < 0) throw malformed(`its boundary does not come within the first ${MAX_PREAMBLE} bytes`)
    },
    end() {},
  }
}
