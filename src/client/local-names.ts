import { cleanFileName, markedName } from '../domain/file-name.ts'

const WINDOWS_FORBIDDEN = /[<>:"|?*\\]/g
const WINDOWS_DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

/** One component, never `.` or `..`, without control characters or names that Windows reserves. */
export function localName(name: string, platform: NodeJS.Platform = process.platform): string {
  const clean = cleanFileName(name)
  if (platform !== 'win32') return clean
  const allowed = clean.replace(WINDOWS_FORBIDDEN, '_').replace(/[. ]+$/, '')
  return WINDOWS_DEVICES.test(allowed) || allowed === '' ? `_${allowed}` : allowed
}

export function numberedName(name: string, number: number): string {
  return markedName(name, ` (${number})`)
}

/** Name of an unfinished download; `tag` identifies the content. */
export function partName(name: string, tag: string): string {
  const suffix = `.${tag}.part`
  return `${shortened(name, MAX_BYTES - suffix.length)}${suffix}`
}

/** The limit of nearly every file system. */
const MAX_BYTES = 255

function shortened(text: string, bytes: number): string {
  const characters = [...text]
  while (Buffer.byteLength(characters.join('')) > bytes) characters.pop()
  return characters.join('')
}
