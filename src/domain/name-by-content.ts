import { fileTypeFromBuffer } from 'file-type'
import mimeDb from 'mime-db'
import { isText } from './text-bytes.ts'

const UNKNOWN = 'application/octet-stream'

/**
 * Name for an unnamed file, such as program output: `text.txt`, `file.png`, or `file.bin` for unknown bytes. A declared
 * type (`type/subtype` in lower case) decides the extension. `head`: the first 4,100 bytes suffice.
 */
export async function nameByContent(head: Uint8Array, declared: string | null): Promise<string> {
  const isTextual = isText(head)
  const [stated] = (declared === UNKNOWN ? undefined : mimeDb[declared ?? '']?.extensions) ?? []
  if (stated !== undefined) return `${isTextual ? 'text' : 'file'}.${stated}`
  const found = (await fileTypeFromBuffer(head))?.ext
  // A text may begin with another format's two letters; a PDF may begin all ASCII.
  if (isTextual && found !== 'pdf') return 'text.txt'
  return `file.${found ?? 'bin'}`
}
