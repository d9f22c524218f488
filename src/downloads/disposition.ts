import anyAscii from 'any-ascii'
import { shortName } from '../domain/file-name.ts'

/**
 * The Content-Disposition header (RFC 6266) for a file of this name; safe in a header whatever the name holds.
 *
 * `filename` is in ASCII with everything doubtful replaced rather than escaped, because clients disagree on escapes; curl saves
 * under that name, which is at most 255 bytes long, since no file system takes more.
 * `filename*` (RFC 8187) carries the name exactly; it is sent when `filename` does not, and when that holds a percent
 * sign, which some browsers decode where there is no `filename*`.
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const ascii = shortName(toAscii(name))
  const plain = `${kind}; filename="${ascii}"`
  return ascii === name && !name.includes('%') ? plain : `${plain}; filename*=UTF-8''${toExtValue(name)}`
}

/** In Latin letters, for programs that read nothing else; without quotes and slashes. Extensions in ASCII stay. */
function toAscii(name: string): string {
  const ascii = name
    .normalize('NFC')
    .replace(/[^\x20-\x7E]+/g, (other) => anyAscii(other).replace(/[^\x20-\x7E]|:/g, '_'))
    .replace(/["\\/]/g, '_')
  return /^\.{0,2}$/.test(ascii) ? '_' : ascii
}

/** Leaves as they are only the characters that RFC 8187 calls attr-char. */
function toExtValue(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
