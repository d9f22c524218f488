import { StoreFailure } from '../../blobs/blob-store.ts'

export interface FillingStream {
  /** Returns 0 at the end. Throws StoreFailure when the stream has another length. */
  fill(target: Uint8Array): Promise<number>
  cancel(): void
}

export function fillingStream(stream: ReadableStream<Uint8Array>, length: number): FillingStream {
  const reader = stream.getReader()
  let received = 0
  let rest: Uint8Array = new Uint8Array()

  async function receive(): Promise<Uint8Array | null> {
    const { done, value } = await reader.read()
    received += value?.length ?? 0
    if (received > length || (done && received < length)) {
      const cause = new Error(`${received} bytes of a content came, ${length} were asked for`)
      throw new StoreFailure('broken', { cause })
    }
    return value ?? null
  }

  return {
    async fill(target) {
      let filled = 0
      while (filled < target.length) {
        if (rest.length === 0) {
          const chunk = await receive()
          if (chunk === null) break
          rest = chunk
        }
        const some = rest.subarray(0, target.length - filled)
        target.set(some, filled)
        filled += some.length
        rest = rest.subarray(some.length)
      }
      return filled
    },

    cancel() {
      // A failure no longer matters.
      reader.cancel().catch(() => {})
    },
  }
}
