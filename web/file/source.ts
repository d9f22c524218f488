import { type Charset, charsetOfType } from '../../src/domain/text-bytes.ts'

/** The bytes of the file that is shown. */
export interface PreviewSource {
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly url: string
  /** The charset of a text, as the answer to the last `read` told it; null where it told none. */
  charset(): Charset | null
  /** Bytes `start` to `end` (exclusive), fewer where the file ends before. Throws when they cannot be had. */
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
}

/** What a server that takes no ranges may send in vain before the bytes that were asked for. */
const MAX_SKIPPED = 8 * 1024 ** 2

export function openSource(file: {
  readonly name: string
  readonly size: number
  readonly url: string
}): PreviewSource {
  let charset: Charset | null = null
  return {
    ...file,
    charset: () => charset,
    async read(start, wanted) {
      const end = Math.min(wanted, file.size)
      if (start >= end) return new Uint8Array()
      // The address says who asks; cookies add nothing to it.
      const response = await fetch(file.url, {
        headers: { Range: `bytes=${start}-${end - 1}` },
        credentials: 'omit',
      })
      charset = charsetOfType(response.headers.get('Content-Type') ?? '')
      if (response.status === 206) return upTo(response, end - start)
      // A cache in between may have dropped the range.
      if (response.status !== 200 || start > MAX_SKIPPED) throw new Error(`answered ${response.status}`)
      return (await upTo(response, end)).subarray(start)
    },
  }
}

/** No more than the first `length` bytes of the body, whatever comes. */
async function upTo(response: Response, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length)
  const reader = response.body?.getReader()
  let filled = 0
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    if (filled === length) {
      await reader.cancel()
      break
    }
    const taken = value.subarray(0, length - filled)
    bytes.set(taken, filled)
    filled += taken.length
  }
  return bytes.subarray(0, filled)
}
