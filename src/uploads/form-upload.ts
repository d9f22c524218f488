import { Refusal } from '../domain/errors.ts'
import { parseBoundary } from './boundary.ts'
import { MOST_BESIDE, type PartSink, scanMultipart } from './multipart.ts'
import { quotedField } from './part-headers.ts'
import { declaredLength } from './receive.ts'
import { assertOnePiece, assertWhole, FRAGMENT_COUNTS, type UploadFormat } from './upload-format.ts'

/** Bytes. */
const LONGEST_FIELD = 1024

/** Programs that percent-encode file names, against the standard. */
const ESCAPES_NAMES = /\b(?:aiohttp|Needle)\//

interface FormFields {
  /** Taken beside the file; others are ignored. */
  readonly wanted: readonly string[]
  readonly values: Map<string, string>
}

const NO_FIELDS: FormFields = { wanted: [], values: new Map() }

/**
 * Fields before the file go to `fields`, and are refused behind it. `files`: whether several may come; each ends before
 * the next is announced. Throws Refusal INVALID_REQUEST for other bodies and for fragments of a file.
 */
export function formUpload(
  request: Request,
  { wanted, values }: FormFields = NO_FIELDS,
  files: 'one' | 'several' = 'one',
): UploadFormat {
  const boundary = parseBoundary(request.headers.get('content-type'))
  const declared = declaredLength(request)
  if (request.body === null) {
    throw new Refusal('INVALID_REQUEST', 'The body is empty; send a form with a part named "file"')
  }
  assertWhole(request)
  return {
    route: 'form',
    least: (length) => Math.max(0, length - MOST_BESIDE),

    async read(body, announce) {
      let isFound = false
      let strayField: string | null = null
      await scanMultipart(body, boundary, {
        escapesNames: ESCAPES_NAMES.test(request.headers.get('user-agent') ?? ''),

        async part({ name, filename, contentType }, offset): Promise<PartSink | null> {
          if (filename === null) {
            if (FRAGMENT_COUNTS.includes(name)) return textOf(name, (text) => assertOnePiece(name, text))
            if (!wanted.includes(name)) return null
            if (!isFound) return textOf(name, (text) => values.set(name, text))
            throw new Refusal('INVALID_REQUEST', `"${name}": must stand in front of the file; send it first`)
          }
          if (name !== 'file') {
            strayField ??= name
            return null
          }
          if (isFound && files === 'one') {
            throw new Refusal('INVALID_REQUEST', 'Send one file a request, in one part named "file"')
          }
          isFound = true
          const length = longestContent(declared, offset, boundary)
          const size = { least: Math.max(0, (length ?? 0) - MOST_BESIDE), most: length ?? 0 }
          return announce({ name: filename, type: contentType, size, length })
        },
      }).catch((error) => {
        // Refuses a large file in the wrong field before its end.
        const isTooMuch = error instanceof Refusal && error.code === 'PAYLOAD_TOO_LARGE'
        throw isTooMuch && !isFound && strayField !== null ? misplaced(strayField) : error
      })
      if (isFound) return
      if (strayField !== null) throw misplaced(strayField)
      throw new Refusal('INVALID_REQUEST', 'The form has no part named "file" with a file name')
    },
  }
}

function misplaced(field: string): Refusal {
  return new Refusal(
    'INVALID_REQUEST',
    `The file came in the field ${quotedField(field)}; send it in the field "file"`,
  )
}

function textOf(name: string, take: (text: string) => void): PartSink {
  const chunks: Buffer[] = []
  let length = 0
  return {
    write(chunk) {
      length += chunk.byteLength
      if (length > LONGEST_FIELD) throw new Refusal('INVALID_REQUEST', `"${name}": is too long`)
      // A view of reused memory.
      chunks.push(Buffer.from(chunk))
    },
    end() {
      take(Buffer.concat(chunks).toString('utf8'))
    },
  }
}

/** Assumes the file is the last part, as it nearly always is. */
function longestContent(declared: number | null, offset: number, boundary: string): number | null {
  return declared === null ? null : Math.max(0, declared - offset - `\r\n--${boundary}--\r\n`.length)
}
