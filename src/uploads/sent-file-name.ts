/** Names as clients send them: of unknown encoding, percent-encoded, or in encoded words of mail headers. */
import { decodeWords } from 'postal-mime'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const windows1252 = new TextDecoder('windows-1252')

/** UTF-8, or Windows-1252 where that is invalid. */
export function textOfBytes(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return windows1252.decode(bytes)
  }
}

/** Malformed escapes stay. */
export function nameInPath(path: string): string {
  const [, segment = ''] = /([^/]*)\/*$/.exec(path) ?? []
  return unescaped(segment)
}

/** Malformed escapes stay. */
export function unescaped(text: string): string {
  if (!text.includes('%')) return text
  const octets = Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return textOfBytes(Buffer.from(octets, 'latin1'))
}

const ENCODED_WORD = String.raw`=\?[\w*.:-]+\?(?:B\?[A-Za-z0-9+/]*={0,2}|Q\?[!->@-~]*)\?=`
const ENCODED_WORDS = new RegExp(`^\\s*${ENCODED_WORD}(?:\\s*${ENCODED_WORD})*\\s*$`, 'i')

/** Only names made of encoded words alone (RFC 2047). */
export function decodedWords(name: string): string {
  return ENCODED_WORDS.test(name) ? decodeWords(name) : name
}
