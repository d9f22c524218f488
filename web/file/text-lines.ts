import { type Charset, isBinary } from '../../src/domain/text-bytes.ts'
import type { PreviewSource } from './source.ts'

/** Bytes of a request: some thousand lines, shown before one notices. */
const STEP = 256 * 1024
/** Bytes. A line beyond it, which no person wrote, is shown as far as it was read, and ends what is shown. */
const LONGEST_LINE = 1024 * 1024

/** The lines of a file, read by ranges as they are asked for. */
export class TextLines {
  readonly #source: PreviewSource
  #decoder: TextDecoder | null = null
  /** Of a line whose end has not been read. */
  #begun = ''
  #position = 0
  #isCut = false
  #zeros = 0
  #characters = 0

  constructor(source: PreviewSource) {
    this.#source = source
  }

  /** Bytes that were read. */
  get position(): number {
    return this.#position
  }

  /** Whether all lines were read. */
  get isWhole(): boolean {
    return this.#position >= this.#source.size && !this.#isCut
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#source.size || this.#isCut
  }

  /** Whether what was read is hardly text at all. */
  get isBinary(): boolean {
    return isBinary(this.#zeros, this.#characters)
  }

  /** The next lines, each with its line break but the last of the file. Call it once at a time. */
  async next(): Promise<string> {
    while (!this.isAtEnd) {
      const start = this.#position
      const bytes = await this.#source.read(start, start + STEP)
      this.#position += bytes.length
      const isLast = bytes.length === 0 || this.#position >= this.#source.size
      const read = this.#begun + this.#decode(bytes, this.#source.charset(), isLast)
      // The other half of a line break may come next.
      const half = !isLast && read.endsWith('\r') ? '\r' : ''
      const text = read.slice(0, read.length - half.length).replace(/\r\n?/g, '\n')
      const end = isLast ? text.length : text.lastIndexOf('\n') + 1
      this.#begun = text.slice(end) + half
      if (end > 0 || isLast) return text.slice(0, end)
      if (text.length < LONGEST_LINE) continue
      this.#isCut = true
      return text
    }
    return ''
  }

  /** In the charset that the server has found; else windows-1252, which anything is. What is not valid becomes U+FFFD. */
  #decode(bytes: Uint8Array, charset: Charset | null, isLast: boolean): string {
    this.#decoder ??= new TextDecoder(charset ?? 'windows-1252')
    const text = this.#decoder.decode(bytes, { stream: !isLast })
    this.#zeros += text.split('\0').length - 1
    this.#characters += text.length
    return text
  }
}
