import { Refusal } from '../../domain/errors.ts'
import { type UploadToken, wholeNumber } from '../../domain/ids.ts'
import type { Call } from '../../server/call.ts'
import { textOfBytes } from '../sent-file-name.ts'

/** tus 1.0.0, https://tus.io/protocols/resumable-upload: the core and its extensions. */

export const TUS_VERSION = '1.0.0'
export const CHUNK_TYPE = 'application/offset+octet-stream'

const MAX_METADATA = 8 * 1024

/** Throws Refusal PRECONDITION_FAILED for another version. */
export function assertTus(call: Call): void {
  const version = call.request.headers.get('tus-resumable')
  if (version === TUS_VERSION) return
  call.headers.set('Tus-Version', TUS_VERSION)
  throw new Refusal(
    'PRECONDITION_FAILED',
    `Send "Tus-Resumable: ${TUS_VERSION}"; this server supports no other version`,
  )
}

export function hasChunk(request: Request): boolean {
  return request.headers.get('content-type')?.toLowerCase() === CHUNK_TYPE
}

export function bytesHeader(request: Request, name: 'Upload-Offset' | 'Upload-Length'): number | null {
  const text = request.headers.get(name)
  if (text === null) return null
  const bytes = wholeNumber(text)
  if (bytes === null) throw invalid(`${name} must be a whole number of bytes`)
  return bytes
}

/**
 * Asks for the SHA-256 of so many bytes before the offset; answered by their number, a space, and the hexadecimal hash.
 */
export const BEFORE_OFFSET = 'Holdfast-Before'

/** Bytes. */
const MOST_BEFORE = 64 * 1024

export function mostBefore(request: Request): number | null {
  const text = request.headers.get(BEFORE_OFFSET)
  if (text === null) return null
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > MOST_BEFORE) {
    throw invalid(`${BEFORE_OFFSET} must be a whole number of bytes from 1 to ${MOST_BEFORE}`)
  }
  return Number(text)
}

export function declaredSize(request: Request): number | null {
  const size = bytesHeader(request, 'Upload-Length')
  const deferred = request.headers.get('upload-defer-length')
  if (deferred !== null && deferred !== '1') throw invalid('Upload-Defer-Length must be 1')
  if ((size === null) === (deferred === null)) {
    throw invalid('Send either Upload-Length, or "Upload-Defer-Length: 1" when the size is not known yet')
  }
  return size
}

/** Comma-separated pairs of key and base64 value; a key alone has an empty value. */
export function parseMetadata(header: string): ReadonlyMap<string, string> {
  if (header.length > MAX_METADATA)
    throw invalid(`Upload-Metadata may have ${MAX_METADATA} characters at most`)
  const metadata = new Map<string, string>()
  if (header.trim() === '') return metadata
  for (const pair of header.split(',')) {
    const [, key = '', value = ''] = /^([!-+\--~]+)(?: +([A-Za-z0-9+/]+={0,2}))?$/.exec(pair.trim()) ?? []
    if (key === '' || value.length % 4 !== 0) {
      throw invalid(
        'Upload-Metadata must be keys and base64 values, such as "filename bmFtZS50eHQ=,folder cm9vdA=="',
      )
    }
    if (metadata.has(key)) throw invalid(`Upload-Metadata has the key "${key}" twice`)
    metadata.set(key, textOfBytes(Buffer.from(value, 'base64')))
  }
  return metadata
}

export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256', 'crc32c'] as const
type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number]

export interface ExpectedChecksum {
  readonly algorithm: ChecksumAlgorithm
  readonly digest: Uint8Array
}

const digestLengths = { sha1: 20, sha256: 32, crc32c: 4 } as const

export function expectedChecksum(request: Request): ExpectedChecksum | null {
  const header = request.headers.get('upload-checksum')
  if (header === null) return null
  const [name, base64 = '', ...rest] = header.trim().split(/ +/)
  const algorithm = CHECKSUM_ALGORITHMS.find((known) => known === name)
  if (algorithm === undefined)
    throw invalid(`Upload-Checksum must be one of ${CHECKSUM_ALGORITHMS.join(', ')}`)
  const digest = Buffer.from(base64, 'base64')
  if (rest.length > 0 || digest.length !== digestLengths[algorithm]) {
    throw invalid(`Upload-Checksum must be "${algorithm}" and the checksum in base64`)
  }
  return { algorithm, digest }
}

export type Concat =
  | { readonly kind: 'partial' }
  | { readonly kind: 'final'; readonly parts: readonly UploadToken[] }

export function parseConcat(header: string | null): Concat | null {
  if (header === null) return null
  if (header === 'partial') return { kind: 'partial' }
  const [, urls] = /^final; *(.+)$/.exec(header) ?? []
  if (urls === undefined)
    throw invalid('Upload-Concat must be "partial", or "final;" and the addresses of the parts')
  return { kind: 'final', parts: urls.trim().split(/ +/).map(partialToken) }
}

/** The address may be absolute or relative. */
function partialToken(url: string): UploadToken {
  const [, token] = /^(?:https?:\/\/[^/]+)?\/api\/v1\/uploads\/([0-9a-f]{32})$/.exec(url) ?? []
  if (token === undefined)
    throw invalid(`Upload-Concat names what is no upload of this server: ${url.slice(0, 100)}`)
  return token as UploadToken
}

function invalid(message: string): Refusal {
  return new Refusal('INVALID_REQUEST', message)
}

/** Folders from the outside in, then the file. */
export function pathNames(metadata: ReadonlyMap<string, string>): string[] {
  return (metadata.get('relativePath') ?? '').split('/').filter((name) => name !== '')
}
