import { Refusal } from '../domain/errors.ts'
import { INVISIBLE } from '../domain/text.ts'
import { decodedWords, textOfBytes, unescaped } from './sent-file-name.ts'

/** Names are as sent, not yet fit for a file system. */
export interface PartHeaders {
  /** Any text: `__proto__` is a name like others. */
  readonly name: string
  /** Null also for an empty file name, as of a file field in which nothing was picked. */
  readonly filename: string | null
  /** `type/subtype` in lower case, without parameters; null also when malformed. */
  readonly contentType: string | null
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const FIELD = new RegExp(`^(${TOKEN}):(.*)$`, 's')
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?=[ \\t]*(;|$))`)

/** By RFC 7578, section 4.2. Each line is UTF-8, or else Windows-1252. Throws Refusal INVALID_REQUEST. */
export function parsePartHeaders(block: Buffer, escapesNames = false): PartHeaders {
  const fields = parseFields(block)
  const disposition = fields.get('content-disposition')
  if (disposition === undefined) throw malformed('a part has no Content-Disposition')
  const { value, parameters } = parseParameters(disposition) ?? {}
  if (value !== 'form-data' || parameters === undefined) throw malformed('a part is not form-data')
  const name = formText(parameters, 'name')
  if (name === null) throw malformed('a part has no name')
  const encoding = fields.get('content-transfer-encoding')?.toLowerCase() ?? 'binary'
  if (!['binary', '8bit', '7bit'].includes(encoding)) {
    // The encoded text must not be stored as the file; RFC 7578, section 4.7, deprecates the header.
    throw malformed('a part has a Content-Transfer-Encoding')
  }
  return {
    name,
    filename: fileName(parameters, escapesNames),
    contentType: MEDIA_TYPE.exec(fields.get('content-type') ?? '')?.[0].toLowerCase() ?? null,
  }
}

/** Value and names in lower case. Null when malformed or with a duplicate parameter. */
export function parseParameters(
  header: string,
): { value: string; parameters: ReadonlyMap<string, string> } | null {
  const semicolon = header.indexOf(';')
  const value = (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase()
  const rest = semicolon < 0 ? '' : header.slice(semicolon)
  // Browsers do not escape backslashes, so one at the end of a name looks like an escaped quote.
  const parameters = readParameters(rest, ESCAPED_STRING) ?? readParameters(rest, PLAIN_STRING)
  return parameters && { value, parameters }
}

const ESCAPED_STRING = /"((?:[^"\\]|\\["\\]|\\(?!["\\]))*)"/y
const PLAIN_STRING = /"([^"]*)"/y
const SEPARATOR = /[ \t]*(?:;[ \t]*)+/y
const PARAMETER_NAME = new RegExp(`(${TOKEN})[ \\t]*=[ \\t]*`, 'y')
const UNQUOTED = /[^";]*/y

function readParameters(text: string, quoted: RegExp): Map<string, string> | null {
  const parameters = new Map<string, string>()
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at = pattern.lastIndex
    return match
  }
  while (text.slice(at).trim() !== '') {
    if (!next(SEPARATOR)) return null
    if (at === text.length) break
    const name = next(PARAMETER_NAME)?.[1]?.toLowerCase()
    if (name === undefined || parameters.has(name)) return null
    const string = next(quoted)?.[1]
    const value = string === undefined ? next(UNQUOTED)?.[0].trim() : unescapeString(string, quoted)
    if (value === undefined) return null
    parameters.set(name, value)
  }
  return parameters
}

function unescapeString(string: string, quoted: RegExp): string {
  return quoted === ESCAPED_STRING ? string.replace(/\\(["\\])/g, '$1') : string
}

function fileName(parameters: ReadonlyMap<string, string>, escapesNames: boolean): string | null {
  if (!escapesNames || parameters.has('filename*')) {
    const name = formText(parameters, 'filename')
    return name === null || name === '' ? null : decodedWords(name)
  }
  return unescaped(parameters.get('filename') ?? '') || null
}

/** A readable `name*` takes precedence. */
function formText(parameters: ReadonlyMap<string, string>, name: string): string | null {
  const extended = parameters.get(`${name}*`)
  const plain = parameters.get(name)
  const decoded = extended === undefined ? null : decodeExtended(extended)
  if (decoded !== null || plain === undefined) return decoded
  // The only three that browsers escape (HTML, "multipart/form-data encoding algorithm").
  return plain.replace(/%22/g, '"').replace(/%0D/gi, '\r').replace(/%0A/gi, '\n')
}

/** `charset'language'percent-encoded` of RFC 8187; null when malformed. */
function decodeExtended(value: string): string | null {
  const match = /^(utf-8|iso-8859-1)'[^']*'((?:[!-$&-~]|%[0-9a-f]{2})*)$/i.exec(value)
  const [, charset, encoded] = match ?? []
  if (charset === undefined || encoded === undefined) return null
  if (charset.toLowerCase() === 'utf-8') return tryDecodeURIComponent(encoded)
  return encoded.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function tryDecodeURIComponent(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function parseFields(block: Buffer): ReadonlyMap<string, string> {
  const text = block.toString('latin1')
  if (/\r(?!\n)|(?<!\r)\n|\0/.test(text)) throw malformed('the headers of a part hold a bare CR, LF or NUL')
  const fields = new Map<string, string>()
  const unfolded = text.replace(/\r\n[ \t]+/g, ' ')
  for (const line of unfolded.split('\r\n')) {
    const [, name, value] = FIELD.exec(textOfBytes(Buffer.from(line, 'latin1'))) ?? []
    if (name === undefined || value === undefined) throw malformed('a header of a part cannot be read')
    const key = name.toLowerCase()
    if (fields.has(key) && key.startsWith('content-')) throw malformed('a header of a part comes twice')
    fields.set(key, value.trim())
  }
  return fields
}

export function malformed(problem: string): Refusal {
  return new Refusal('INVALID_REQUEST', `The multipart body is malformed: ${problem}`)
}

/** Short enough for a message. */
export function quotedField(name: string): string {
  const visible = name.toWellFormed().replace(INVISIBLE, '')
  return `"${visible.length > 100 ? `${visible.slice(0, 100).toWellFormed()}…` : visible}"`
}
