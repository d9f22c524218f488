import { cleanFileName, markedName } from '../domain/file-name.ts'

const WINDOWS_FORBIDDEN = /[<>:"|?*\\]/g
const WINDOWS_DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

/**
 * A name from a server as it may stand on this system: one component, never `.` or `..`, without control characters,
 * and on Windows without what that reserves.
 */
export function localName(name: string, platform: NodeJS.Platform = process.platform): string {
  const clean = cleanFileName(name)
  if (platform !== 'win32') return clean
  const allowed = clean.replace(WINDOWS_FORBIDDEN, '_').replace(/[. ]+$/, '')
  return WINDOWS_DEVICES.test(allowed) || allowed === '' ? `_${allowed}` : allowed
}

/** The name with a number before its extension: `a (2).txt`. */
export function numberedName(name: string, number: number): string {
  return markedName(name, ` (${number})`)
}

/** What an unfinished download is called; `tag` says of which content it is a part. */
export function partName(name: string, tag: string): string {
  const suffix = `.${tag}.part`
  return `${shortened(name, MAX_BYTES - suffix.length)}${suffix}`
}

/** What a name may have on nearly every file system. */
const MAX_BYTES = 255

function shortened(text: string, bytes: number): string {
  const characters = [...text]
  while (Buffer.byteLength(characters.join('')) > bytes) characters.pop()
  return characters.join('')
}
