import { INVISIBLE, RAW_FACTOR } from './text.ts'

const MAX_BYTES = 255

const EXTENSION = /^.+\.([\p{L}\p{M}\p{N}_+~-]+)$/su

/** Windows paths separate components with `\\`, which elsewhere is a character of a name. */
const WINDOWS_PATH = /^(?:[a-z]:\\|\\\\)/iu

/**
 * Stored name for an uploaded one: last path component, NFC, without control and bidirectional characters and
 * surrounding spaces, at most 255 bytes of UTF-8 with the extension kept. Lone surrogates become U+FFFD. A name without
 * visible characters, `-`, `.` and `..` become `unnamed`. Idempotent. Cut to four times the limit before normalization,
 * whose cost is quadratic.
 */
export function cleanFileName(raw: string): string {
  const component = lastComponent(raw.toWellFormed().replace(INVISIBLE, '').trim())
  // NFC last: removing a character can join two others that compose.
  const name = shorten(component, RAW_FACTOR * MAX_BYTES).normalize('NFC')
  const short = shortName(name).trim()
  return ['', '-', '.', '..'].includes(short) ? 'unnamed' : short
}

function lastComponent(path: string): string {
  const component = path.slice(path.lastIndexOf('/') + 1).trim()
  const isWindows = WINDOWS_PATH.test(path) || WINDOWS_PATH.test(component)
  return isWindows ? component.slice(component.lastIndexOf('\\') + 1).trim() : component
}

/** Lower case, no dot; '' for none, as in `.profile` and `Dr. No`. */
export function extensionOf(name: string): string {
  return EXTENSION.exec(name)?.[1]?.toLowerCase() ?? ''
}

/** Characters: no name is longer. */
export const LONGEST_SEARCH = MAX_BYTES

export function shortName(name: string): string {
  return shorten(name, MAX_BYTES)
}

/** Cuts between code points; keeps the extension unless it alone exceeds the limit. */
function shorten(name: string, bytes: number): string {
  return Buffer.byteLength(name) <= bytes ? name : marked(name, '', bytes)
}

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

function takeBytes(text: string, bytes: number): string {
  if (bytes <= 0) return ''
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return text.slice(0, read)
}
