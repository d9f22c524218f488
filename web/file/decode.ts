export interface DecodedText {
  readonly text: string
  /** Whether it is hardly any text at all. */
  readonly isBinary: boolean
}

/**
 * The text of the first bytes of a file, which may end within a character: by its byte order mark, else UTF-8 where it
 * is valid as that, else windows-1252, which anything is.
 */
export function decodeText(bytes: Uint8Array): DecodedText {
  const text = decoded(bytes)
  return { text: text.replace(/\r\n?/g, '\n'), isBinary: text.includes('\0') }
}

function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return lenient('utf-16le', bytes)
  if (first === 0xfe && second === 0xff) return lenient('utf-16be', bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return lenient('windows-1252', bytes)
  }
}

function lenient(encoding: 'utf-16le' | 'utf-16be' | 'windows-1252', bytes: Uint8Array): string {
  return new TextDecoder(encoding).decode(bytes, { stream: true })
}
