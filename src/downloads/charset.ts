import { analyse } from 'chardet'
import { type BlobStore, isLost, readInto, StoreFailure } from '../blobs/blob-store.ts'
import { type Charset, isBinary, isMostlyUtf8 } from '../domain/text-bytes.ts'
import type { FileDetailRow } from '../files/files.ts'

/** Bytes. */
export const CHARSET_SAMPLE = 64 * 1024

/** Bytes. */
const COUNTED = 2 * 1024
/** Percent: least confidence, and least lead over the next guess. */
const SURE = 40
const AHEAD = 10

/** Excludes encodings that change state within ASCII bytes: they hide markup from readers. */
const DETECTED: Readonly<Record<string, Charset>> = {
  Shift_JIS: 'shift_jis',
  'EUC-JP': 'euc-jp',
  GB18030: 'gb18030',
  Big5: 'big5',
  'EUC-KR': 'euc-kr',
  'KOI8-R': 'koi8-r',
  'ISO-8859-1': 'windows-1252',
  'ISO-8859-2': 'iso-8859-2',
  'ISO-8859-5': 'iso-8859-5',
  'ISO-8859-9': 'windows-1254',
  'windows-1250': 'windows-1250',
  'windows-1251': 'windows-1251',
  'windows-1252': 'windows-1252',
  'windows-1253': 'windows-1253',
  'windows-1254': 'windows-1254',
  'windows-1255': 'windows-1255',
  'windows-1256': 'windows-1256',
}

/**
 * By byte order mark; else UTF-8 where most multi-byte sequences are valid, so that a wrong byte spoils nothing else;
 * else by confident statistics; else null. The sample may end within a character.
 */
export function charsetOf(sample: Uint8Array): Charset | null {
  const marked = markOf(sample)
  if (marked !== null) return marked
  if (isBinary(zerosIn(sample), sample.length)) return null
  return isMostlyUtf8(sample) ? 'utf-8' : detected(sample)
}

function markOf([first, second, third]: Uint8Array): Charset | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : null
}

function zerosIn(sample: Uint8Array): number {
  let zeros = 0
  for (const byte of sample) if (byte === 0) zeros += 1
  return zeros
}

function detected(sample: Uint8Array): Charset | null {
  const [best, next] = analyse(foreignWords(sample))
  if (best === undefined || best.confidence < SURE) return null
  return best.confidence - (next?.confidence ?? 0) >= AHEAD ? (DETECTED[best.name] ?? null) : null
}

/** ASCII words look like English. In no charset above does a character contain a blank or line end. */
function foreignWords(sample: Uint8Array): Uint8Array {
  const kept = new Uint8Array(COUNTED)
  let filled = 0
  for (let start = 0; start < sample.length && filled < COUNTED; ) {
    let end = start
    let isForeign = false
    for (; end < sample.length; end += 1) {
      const byte = sample[end] ?? 0
      if (byte <= 0x20) break
      if (byte >= 0x80) isForeign = true
    }
    if (isForeign) {
      const word = sample.subarray(start, end + 1).subarray(0, COUNTED - filled)
      kept.set(word, filled)
      filled += word.length
    }
    start = end + 1
  }
  return kept.subarray(0, filled)
}

/** At about 200 bytes each. */
const REMEMBERED = 10_000

export class Charsets {
  readonly #blobs: BlobStore
  readonly #known = new Map<string, Promise<Charset | null>>()

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  /** Null also while the bytes cannot be read, which sending them reports. */
  of({ sha256, blob_key: key, size }: FileDetailRow): Promise<Charset | null> {
    const known = this.#known.get(sha256)
    if (known !== undefined) return known
    const found = this.#find(key, size).catch((error: unknown) => {
      this.#known.delete(sha256)
      if (isLost(error) || error instanceof StoreFailure) return null
      throw error
    })
    if (this.#known.size >= REMEMBERED) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest)
        break
      }
    }
    this.#known.set(sha256, found)
    return found
  }

  async #find(key: FileDetailRow['blob_key'], size: number): Promise<Charset | null> {
    const sample = new Uint8Array(Math.min(size, CHARSET_SAMPLE))
    await readInto(this.#blobs, key, 0, sample, size)
    return charsetOf(sample)
  }
}
