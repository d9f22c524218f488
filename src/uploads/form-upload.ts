import { Refusal } from '../domain/errors.ts'
import { parseBoundary } from './boundary.ts'
import { MOST_BESIDE, type PartSink, scanMultipart } from './multipart.ts'
import { declaredLength } from './receive.ts'
import type { UploadFormat } from './upload-format.ts'

/** Bytes of a field in front of the file. */
const LONGEST_FIELD = 1024

/**
 * A form with the file in the one part named "file" that has a file name. What stands in front of it in parts of these
 * names without a file name is added to `fields`, and refused behind it. Throws Refusal INVALID_REQUEST when the request
 * brings no form.
 */
export function formUpload(
  request: Request,
  wanted: readonly string[] = [],
  fields: Map<string, string> = new Map(),
): UploadFormat {
  const boundary = parseBoundary(request.headers.get('content-type'))
  const declared = declaredLength(request)
  if (request.body === null) {
    throw new Refusal('INVALID_REQUEST', 'The body is empty; send a form with a part named "file"')
  }
  return {
    route: 'form',
    least: (length) => Math.max(0, length - MOST_BESIDE),

    async read(body, announce) {
      let isFound = false
      await scanMultipart(body, boundary, {
        async part({ name, filename, contentType }, offset): Promise<PartSink | null> {
          if (filename === null && wanted.includes(name)) {
            if (!isFound) return textOf(name, fields)
            throw new Refusal('INVALID_REQUEST', `"${name}": must stand in front of the file; send it first`)
          }
          if (name !== 'file' || !filename) return null
          if (isFound) {
            throw new Refusal('INVALID_REQUEST', 'Send one file a request, in one part named "file"')
          }
          isFound = true
          const length = longestContent(declared, offset, boundary)
          const size = { least: Math.max(0, (length ?? 0) - MOST_BESIDE), most: length ?? 0 }
          return announce({ name: filename, type: contentType, size, length })
        },
      })
      if (!isFound) {
        throw new Refusal('INVALID_REQUEST', 'The form has no part named "file" with a file name')
      }
    },
  }
}

function textOf(name: string, fields: Map<string, string>): PartSink {
  const chunks: Buffer[] = []
  let length = 0
  return {
    write(chunk) {
      length += chunk.byteLength
      if (length > LONGEST_FIELD) throw new Refusal('INVALID_REQUEST', `"${name}": is too long`)
      // A view of what is overwritten later.
      chunks.push(Buffer.from(chunk))
    },
    end() {
      fields.set(name, Buffer.concat(chunks).toString('utf8'))
    },
  }
}

/** What the file weighs when it is the last part, as it nearly always is: all but the final boundary's line. */
function longestContent(declared: number | null, offset: number, boundary: string): number | null {
  return declared === null ? null : Math.max(0, declared - offset - `\r\n--${boundary}--\r\n`.length)
}
