export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array(0)

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** Null when the stream ends before that many bytes. */
  async take(length: number): Promise<Uint8Array | null> {
    const taken = new Uint8Array(length)
    for (let filled = 0; filled < length; ) {
      if (this.#rest.byteLength === 0) {
        const { done, value } = await this.#chunks.next()
        if (done === true) return null
        this.#rest = value
      }
      const part = this.#rest.subarray(0, length - filled)
      taken.set(part, filled)
      this.#rest = this.#rest.subarray(part.byteLength)
      filled += part.byteLength
    }
    return taken
  }
}
