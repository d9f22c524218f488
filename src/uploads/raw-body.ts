import { Refusal } from '../domain/errors.ts'
import { nameByContent } from '../domain/media-type.ts'
import type { Call } from '../server/call.ts'
import { declaresBody } from '../server/requests/body.ts'
import { HEAD_LENGTH } from './incoming-content.ts'
import type { BodyReader } from './multipart.ts'
import { declaredLength } from './receive.ts'
import { decodedWords, nameInPath } from './sent-file-name.ts'
import { assertWhole, type UploadFormat } from './upload-format.ts'

/** Default types of clients that were given none. */
const UNTOLD = ['application/x-www-form-urlencoded']

/**
 * Without a name, or with `-`, the first bytes are read before the announcement. Throws Refusal INVALID_REQUEST for a
 * form, for a part of a file (RFC 9110, section 14.5), and for an undeclared body, which HTTP ends before its first
 * byte.
 */
export function rawUpload({ request, url }: Call, isNamed: boolean, route: string): UploadFormat {
  const type = mediaTypeOf(request)
  if (type === 'multipart/form-data') {
    throw new Refusal('INVALID_REQUEST', 'Send the bytes of the file alone; forms go to POST /api/v1/upload')
  }
  assertWhole(request)
  if (!declaresBody(request.headers)) {
    throw new Refusal(
      'INVALID_REQUEST',
      'Send Content-Length, 0 for an empty file, or "Transfer-Encoding: chunked"',
    )
  }
  const length = declaredLength(request)
  const given = isNamed ? decodedWords(nameInPath(url.pathname)) : '-'
  const name = given === '-' ? null : given
  return {
    route,
    least: (declared) => declared,

    async read(body, announce) {
      const size = { least: length ?? 0, most: length ?? 0 }
      const told = UNTOLD.includes(type) ? null : type || null
      const head = name === null ? await readHead(body) : []
      const sink = await announce({
        name: name ?? (await nameByContent(Buffer.concat(head), told)),
        type: told,
        size,
        length,
      })
      let received = 0
      for (const chunk of head) {
        received += chunk.byteLength
        await sink.write(chunk)
      }
      for (;;) {
        const { done, value } = await body.read()
        if (done || value === undefined) break
        received += value.byteLength
        await sink.write(value)
      }
      if (length !== null && received !== length) {
        throw new Refusal('INVALID_REQUEST', 'The body ended before its declared length')
      }
      await sink.end()
    },
  }
}

async function readHead(body: BodyReader): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for (let length = 0; length < HEAD_LENGTH; ) {
    const { done, value } = await body.read()
    if (done || value === undefined) break
    chunks.push(new Uint8Array(value))
    length += value.byteLength
  }
  return chunks
}

/** `type/subtype` in lower case, or ''. */
function mediaTypeOf(request: Request): string {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type) ? type : ''
}
