/** Names of the Encoding Standard. */
const CHARSETS = [
  ...(['utf-8', 'utf-16le', 'utf-16be'] as const),
  ...(['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr', 'koi8-r', 'iso-8859-2', 'iso-8859-5'] as const),
  ...(['windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254'] as const),
  ...(['windows-1255', 'windows-1256'] as const),
] as const
export type Charset = (typeof CHARSETS)[number]

export function charsetOfType(type: string): Charset | null {
  const named = /;\s*charset=([\w-]+)/.exec(type)?.[1]
  return CHARSETS.find((charset) => charset === named) ?? null
}

/** The control characters of texts and terminals: BEL to CR, and ESC; the list of file(1). */
const CONTROLS: ReadonlySet<number> = new Set([7, 8, 9, 10, 11, 12, 13, 27])

/**
 * Whether bytes of which no name tells anything are a text: in UTF-16 with its mark, or in any charset that has ASCII, coloured
 * output of a terminal included. A wrong byte is no obstacle, and the end may be cut within a character.
 */
export function isText(head: Uint8Array): boolean {
  const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)
  return isUtf16 || head.every((byte) => byte >= 0x20 || CONTROLS.has(byte))
}

/** Part of a text that may be zero bytes, such as a crash leaves in a log. A program or a picture has far more. */
const MOST_ZEROS = 1 / 20

export function isBinary(zeros: number, length: number): boolean {
  return zeros > length * MOST_ZEROS
}

/** ASCII, or more valid than invalid sequences. The end may be cut within one. */
export function isMostlyUtf8(bytes: Uint8Array): boolean {
  let valid = 0
  let invalid = 0
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0
    if (first < 0x80) {
      at += 1
      continue
    }
    const length = sequenceLength(first)
    const rest = bytes.subarray(at + 1, at + length)
    const continued = continuationBytes(first, rest)
    if (length > 0 && continued === length - 1) valid += 1
    else if (length === 0 || at + 1 + continued < bytes.length) invalid += 1
    at += 1 + continued
  }
  return invalid === 0 || valid > invalid
}

/** 0 for an invalid first byte (Unicode 17, table 3-7). */
function sequenceLength(first: number): number {
  if (first >= 0xc2 && first <= 0xdf) return 2
  if (first >= 0xe0 && first <= 0xef) return 3
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0
}

function continuationBytes(first: number, rest: Uint8Array): number {
  let count = 0
  for (const byte of rest) {
    const least = count > 0 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
    const most = count > 0 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
    if (byte < least || byte > most) break
    count += 1
  }
  return count
}
