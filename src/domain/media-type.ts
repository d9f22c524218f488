import { fileTypeFromBuffer } from 'file-type'
import mimeDb from 'mime-db'
import { extensionOf } from './file-name.ts'
import { textKindOf } from './icon-kind.ts'

const UNKNOWN = 'application/octet-stream'
const TEXT = 'text/plain'

/** `type/subtype` with the characters that RFC 6838 §4.2 allows, so no wildcards. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/

/** Overrides for extensions for which mime-db lists several types, or an uncommon one. */
const PREFERRED_TYPES: Readonly<Record<string, string>> = {
  '3gpp': 'video/3gpp',
  flac: 'audio/flac',
  jfif: 'image/jpeg',
  mp4: 'video/mp4',
  mpg4: 'video/mp4',
  mpp: 'application/vnd.ms-project',
  mts: 'video/mp2t',
  org: 'text/x-org',
  rs: 'text/plain',
  wav: 'audio/wav',
}

/**
 * Extensions of another format and of source code or texts, which only the content can tell apart: films and TypeScript,
 * virtual disks and VHDL, presentations and public keys.
 */
const SOMETIMES_TEXT: ReadonlySet<string> = new Set(
  'ts mts bat cu dist dot key mmd pot pub scm tpl vhd'.split(' '),
)

const typeOfExtension: ReadonlyMap<string, string> = buildTable()

/**
 * Media type of a file, in lower case and without parameters: by the name's extension, else the type that the
 * uploader declared unless it is application/octet-stream or malformed, else by the first bytes, else
 * application/octet-stream. Source code is text/plain where nothing says more: a browser shows it and runs nothing. `head` is
 * the beginning of the content; 4,100 bytes suffice, fewer if the file is shorter.
 */
export async function mediaType(name: string, declared: string | null, head: Uint8Array): Promise<string> {
  const extension = extensionOf(name)
  const named = typeOfExtension.get(extension)
  if (named !== undefined) {
    return SOMETIMES_TEXT.has(extension) && isText(head) ? TEXT : named
  }
  const [essence = ''] = (declared ?? '').split(';')
  const stated = essence.trim().toLowerCase()
  if (stated !== UNKNOWN && MEDIA_TYPE.test(stated)) return stated
  // Two letters at the beginning of a text may be the mark of another format.
  if (textKindOf(name) !== null && isText(head)) return TEXT
  return (await fileTypeFromBuffer(head))?.mime ?? UNKNOWN
}

/** The same by the name alone; undefined where that tells nothing. */
export function mediaTypeOfName(name: string): string | undefined {
  return typeOfExtension.get(extensionOf(name)) ?? (textKindOf(name) === null ? undefined : TEXT)
}

/**
 * Precedence per extension: IANA's registration, Apache's list, nginx's list, the rest; octet-stream comes
 * last.
 */
function buildTable(): Map<string, string> {
  const best = new Map<string, { type: string; rank: number }>()
  for (const [type, { source, extensions = [] }] of Object.entries(mimeDb)) {
    const rank = type === UNKNOWN ? 4 : source === undefined ? 3 : ['iana', 'apache', 'nginx'].indexOf(source)
    for (const extension of extensions) {
      const known = best.get(extension)
      if (known === undefined || rank < known.rank) best.set(extension, { type, rank })
    }
  }
  const table = new Map([...best].map(([extension, { type }]) => [extension, type]))
  for (const [extension, type] of Object.entries(PREFERRED_TYPES)) table.set(extension, type)
  return table
}

/**
 * Whether the bytes are a text in any charset that has ASCII: without control characters that text does not use. A wrong byte
 * is no obstacle, and the end may be cut within a character.
 */
function isText(head: Uint8Array): boolean {
  const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)
  return head.length > 0 && (isUtf16 || head.every((byte) => byte >= 0x20 || TEXT_CONTROLS.has(byte)))
}

/** Tab, line feed, form feed, carriage return, and escape, which colours logs. */
const TEXT_CONTROLS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b])
