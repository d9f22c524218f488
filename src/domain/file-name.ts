import { RAW_FACTOR } from './measured-text.ts'
import { UNSEEN } from './unseen.ts'

const MAX_BYTES = 255

const EXTENSION = /^.+\.([\p{L}\p{M}\p{N}_+~-]+)$/su

/**
 * The name a file is kept under, from whatever an uploader sent: the last path component (either slash), in NFC, without
 * control and bidirectional characters, at most 255 bytes of UTF-8 with the extension kept. Lone surrogates become
 * U+FFFD. What leaves nothing to see, `.` and `..` become `unnamed`. Cleaning a clean name changes nothing. A longer name
 * is cut to four times the limit before it is normalised, which takes the square of its length.
 */
export function cleanFileName(raw: string): string {
  const component = raw.slice(Math.max(raw.lastIndexOf('/'), raw.lastIndexOf('\\')) + 1)
  // NFC comes last: two characters may only meet, and compose, once what stood between them is gone.
  const visible = component.toWellFormed().replace(UNSEEN, '')
  const name = shorten(visible, RAW_FACTOR * MAX_BYTES).normalize('NFC')
  if (name.trim() === '' || name === '.' || name === '..') return 'unnamed'
  return shorten(name, MAX_BYTES)
}

/** The extension in lower case without its dot, or '' when the name has none; `.profile` and `Dr. No` have none. */
export function extensionOf(name: string): string {
  return EXTENSION.exec(name)?.[1]?.toLowerCase() ?? ''
}

/** No name is longer, so a search for more finds none. Characters. */
export const LONGEST_SEARCH = MAX_BYTES

/**
 * The name as it is searched for: two names that differ only in upper and lower case, in any script, fold to the same
 * text. ß is ss, every sigma is σ, and i with or without its dot is i. In NFC; folding twice changes nothing.
 */
export function foldName(name: string): string {
  let folded = name
  let before: string
  do {
    before = folded
    folded = foldOnce(folded)
  } while (folded !== before)
  return folded
}

function foldOnce(name: string): string {
  return (
    name
      .normalize('NFC')
      // Lower case first, because ẞ has no upper case of its own while ß has.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll('ς', 'σ')
      // İ in lower case is an i with a second, combining dot.
      .replace(/i\u0307+/g, 'i')
      .normalize('NFC')
  )
}

/** Cuts between code points; the stem gives way, not the extension, unless that alone would fill the name. */
function shorten(name: string, bytes: number): string {
  return Buffer.byteLength(name) <= bytes ? name : marked(name, '', bytes)
}

/** The name with the mark before its extension, at most 255 bytes of UTF-8: shortened where that is too much. */
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

/** The longest beginning of the text, in whole code points, that fits. */
function takeBytes(text: string, bytes: number): string {
  if (bytes <= 0) return ''
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return text.slice(0, read)
}
