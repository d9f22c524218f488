import { type Charset, isBinary } from '../../src/domain/text-bytes.ts'

export interface DecodedText {
  readonly text: string
  /** Whether it is hardly any text at all. */
  readonly isBinary: boolean
}

/**
 * The text of the first bytes of a file, which may end within a character, in the charset that the server has found; else
 * windows-1252, which anything is. What is not valid becomes U+FFFD.
 */
export function decodeText(bytes: Uint8Array, charset: Charset | null): DecodedText {
  const text = new TextDecoder(charset ?? 'windows-1252').decode(bytes, { stream: true })
  const zeros = text.split('\0').length - 1
  return { text: text.replace(/\r\n?/g, '\n'), isBinary: isBinary(zeros, text.length) }
}
