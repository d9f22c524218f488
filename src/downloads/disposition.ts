import anyAscii from 'any-ascii'
import { shortName } from '../domain/file-name.ts'

/**
 * RFC 6266. `filename` is ASCII with doubtful characters replaced, because clients disagree on escapes, and has at most
 * 255 bytes, because curl saves under it. `filename*` (RFC 8187) is added where that loses something, and for a percent
 * sign, which some browsers decode without it.
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const ascii = shortName(toAscii(name))
  const plain = `${kind}; filename="${ascii}"`
  return ascii === name && !name.includes('%') ? plain : `${plain}; filename*=UTF-8''${toExtValue(name)}`
}

/** For clients that ignore `filename*`. */
function toAscii(name: string): string {
  const ascii = name
    .normalize('NFC')
    .replace(/[^\x20-\x7E]+/g, (other) => anyAscii(other).replace(/[^\x20-\x7E]|:/g, '_'))
    .replace(/["\\/]/g, '_')
  return /^\.{0,2}$/.test(ascii) ? '_' : ascii
}

/** Leaves RFC 8187's attr-char alone. */
function toExtValue(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
