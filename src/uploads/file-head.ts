/** Bytes that suffice to detect a type. */
export const HEAD_LENGTH = 4100

export class FileHead {
  readonly #chunks: Buffer[] = []
  #length = 0

  take(chunk: Uint8Array): void {
    if (this.#length >= HEAD_LENGTH) return
    const part = Buffer.from(chunk.subarray(0, HEAD_LENGTH - this.#length))
    this.#chunks.push(part)
    this.#length += part.length
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks)
  }
}
