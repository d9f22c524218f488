import { INVISIBLE } from './invisible-characters.ts'
import { RAW_FACTOR } from './measured-text.ts'

const MAX_BYTES = 255

const EXTENSION = /^.+\.([\p{L}\p{M}\p{N}_+~-]+)$/su

/** Where a path begins like this, as on Windows, `\\` separates its components; elsewhere it is a character of a name. */
const WINDOWS_PATH = /^(?:[a-z]:\\|\\\\)/iu

/**
 * The name under which a file is stored, from the name that the uploader sent: the last path component, in NFC,
 * without control and bidirectional characters and spaces around it, at most 255 bytes of UTF-8 with the extension kept.
 * Lone surrogates become U+FFFD. A name without visible characters, `-`, `.` and `..` become `unnamed`.
 * Idempotent. A longer name is cut to four times the limit before normalization, whose cost is quadratic in
 * its length.
 */
export function cleanFileName(raw: string): string {
  const component = lastComponent(raw.toWellFormed().replace(INVISIBLE, '').trim())
  // NFC must come last: removing a character can bring two others together that compose.
  const name = shorten(component, RAW_FACTOR * MAX_BYTES).normalize('NFC')
  const short = shortName(name).trim()
  return ['', '-', '.', '..'].includes(short) ? 'unnamed' : short
}

function lastComponent(path: string): string {
  const component = path.slice(path.lastIndexOf('/') + 1).trim()
  const isWindows = WINDOWS_PATH.test(path) || WINDOWS_PATH.test(component)
  return isWindows ? component.slice(component.lastIndexOf('\\') + 1).trim() : component
}

/** The extension in lower case without its dot, or '' when the name has none; `.profile` and `Dr. No` have none. */
export function extensionOf(name: string): string {
  return EXTENSION.exec(name)?.[1]?.toLowerCase() ?? ''
}

/** Characters. No name is longer, so a longer search finds nothing. */
export const LONGEST_SEARCH = MAX_BYTES

/** The name, truncated to 255 bytes of UTF-8 if it is longer; the extension stays. */
export function shortName(name: string): string {
  return shorten(name, MAX_BYTES)
}

/** Truncates between code points; keeps the extension unless that alone exceeds the limit. */
function shorten(name: string, bytes: number): string {
  return Buffer.byteLength(name) <= bytes ? name : marked(name, '', bytes)
}

/** The name with `mark` before its extension, truncated to 255 bytes of UTF-8. */
export function markedName(name: string, mark: string): string {
  return marked(name, mark, MAX_BYTES)
}

function marked(name: string, mark: string, bytes: number): string {
  const extension = EXTENSION.exec(name)?.[1]
  const suffix = extension === undefined ? '' : `.${extension}`
  const room = bytes - Buffer.byteLength(mark)
  const stem = takeBytes(name.slice(0, name.length - suffix.length), room - Buffer.byteLength(suffix))
  return stem === '' ? takeBytes(name, room) + mark : stem + mark + suffix
}

/** The longest prefix of whole code points that fits. */
function takeBytes(text: string, bytes: number): string {
  if (bytes <= 0) return ''
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return text.slice(0, read)
}
