import { fileTypeFromBuffer } from 'file-type'
import mimeDb from 'mime-db'
import { isText } from './text-bytes.ts'

/** Type of bytes about which nothing is known, whose extension in the table says no more than that. */
const UNKNOWN = 'application/octet-stream'

/**
 * A name for a file that came without one, such as the output of a program: `text.txt` for text, `file.png` for a
 * picture, `file.bin` for bytes that nothing is known about. A declared type (`type/subtype` in lower case, or null)
 * decides about the extension. `head` is the beginning of the content; 4,100 bytes suffice.
 */
export async function nameByContent(head: Uint8Array, declared: string | null): Promise<string> {
  const isTextual = isText(head)
  const [stated] = (declared === UNKNOWN ? undefined : mimeDb[declared ?? '']?.extensions) ?? []
  if (stated !== undefined) return `${isTextual ? 'text' : 'file'}.${stated}`
  const found = (await fileTypeFromBuffer(head))?.ext
  // A text may begin with the two letters by which another format is known; a PDF may be all ASCII at first.
  if (isTextual && found !== 'pdf') return 'text.txt'
  return `file.${found ?? 'bin'}`
}
