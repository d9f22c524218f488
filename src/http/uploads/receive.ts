import { Refusal } from '../../domain/errors.ts'
import type { FolderPlace } from '../../domain/ids.ts'
import type { Caller } from '../../services/caller.ts'
import type { Incoming, StoredFile } from '../../services/uploads.ts'
import type { Call } from '../call.ts'
import { parseBoundary } from './boundary.ts'
import { type PartSink, scanMultipart } from './multipart.ts'
import { pacedBody } from './paced-body.ts'

/** No envelope of ours weighs more: what a body has beyond this is content. */
const LARGEST_ENVELOPE = 64 * 1024

/** What of a refused body is read to its end, so that the sender gets to see the answer. */
const READ_OFF = 1024 * 1024

/**
 * Receives the one file of a multipart request. Folder, declared length and room are checked before the body is
 * read. Returns once the file would survive a power cut; whatever goes wrong leaves nothing behind.
 */
export async function receiveFile(call: Call, caller: Caller, place: FolderPlace): Promise<StoredFile> {
  const boundary = parseBoundary(call.request.headers.get('content-type'))
  const declared = declaredLength(call.request)
  const { uploads } = call.site.services
  const incoming = await uploads.begin(caller, place, {
    least: Math.max(0, (declared ?? 0) - LARGEST_ENVELOPE),
    most: declared ?? 0,
  })
  const source = call.request.body
  if (source === null) {
    await incoming.abort()
    throw new Refusal('INVALID_REQUEST', 'The body is empty; send a form with a part named "file"')
  }
  call.keepOpen()
  const body = pacedBody(source, call.site.clock)
  const done = call.site.uploadsUnderWay.begin(body.end)
  try {
    const part = await scanFile(body.stream, boundary, incoming)
    return await incoming.finish(part.name, part.type)
  } catch (error) {
    await incoming.abort()
    if (error instanceof Refusal) closeUnlessShort(call, declared, body.received())
    throw error
  } finally {
    done()
  }
}

interface FilePart {
  readonly name: string
  readonly type: string | null
}

async function scanFile(
  body: ReadableStream<Uint8Array>,
  boundary: string,
  incoming: Incoming,
): Promise<FilePart> {
  let file: FilePart | null = null
  await scanMultipart(body, boundary, {
    part(headers): PartSink | null {
      if (headers.name !== 'file' || !headers.filename) return null
      if (file !== null)
        throw new Refusal('INVALID_REQUEST', 'Send one file a request, in one part named "file"')
      file = { name: headers.filename, type: headers.contentType }
      return { write: (chunk) => incoming.write(chunk), end: () => {} }
    },
  })
  if (file === null) {
    throw new Refusal('INVALID_REQUEST', 'The form has no part named "file" with a file name')
  }
  return file
}

function declaredLength(request: Request): number | null {
  const header = request.headers.get('content-length')
  return header === null ? null : Number(header)
}

/** A sender with much left to send is cut off after the answer; a little is read off for its sake. */
export function closeUnlessShort(call: Call, declared: number | null, received: number): void {
  if (declared === null || declared - received > READ_OFF) call.headers.set('Connection', 'close')
}
