import { Refusal } from '../../domain/errors.ts'
import type { FolderPlace } from '../../domain/ids.ts'
import type { Caller } from '../../services/caller.ts'
import type { StoredFile } from '../../services/stored-file.ts'
import type { Alongside, Incoming } from '../../services/uploads.ts'
import type { Call } from '../call.ts'
import { parseBoundary } from './boundary.ts'
import { type PartSink, scanMultipart } from './multipart.ts'
import { type PacedBody, pacedBody } from './paced-body.ts'
import type { PartHeaders } from './part-headers.ts'

/** No envelope of ours weighs more: what a body has beyond this is content. */
const LARGEST_ENVELOPE = 64 * 1024

/** What of a refused body is read to its end, so that the sender gets to see the answer. */
const READ_OFF = 1024 * 1024

/**
 * Receives the one file of a multipart request. Folder, declared length and room are checked before the body is
 * read. Returns once the file, and what is done alongside, would survive a power cut; whatever goes wrong leaves
 * nothing behind.
 */
export async function receiveFile(
  call: Call,
  caller: Caller,
  place: FolderPlace,
  alongside: Alongside = async () => {},
): Promise<StoredFile> {
  const boundary = parseBoundary(call.request.headers.get('content-type'))
  const declared = declaredLength(call.request)
  const { uploads } = call.site.services
  const source = call.request.body
  if (source === null) {
    throw new Refusal('INVALID_REQUEST', 'The body is empty; send a form with a part named "file"')
  }
  const body = pacedBody(source, call.site.clock)
  const done = call.site.uploadsUnderWay.begin(body.end)
  let file: ReceivedFile = null
  try {
    await uploads.check(caller, place, Math.max(0, (declared ?? 0) - LARGEST_ENVELOPE))
    await scanMultipart(body, boundary, {
      async part(headers, offset): Promise<PartSink | null> {
        if (headers.name !== 'file' || !headers.filename) return null
        if (file !== null)
          throw new Refusal('INVALID_REQUEST', 'Send one file a request, in one part named "file"')
        const size = contentSize(declared, offset, boundary)
        const incoming = await uploads.begin(caller, place, size)
        file = { headers, incoming }
        return { write: (chunk) => incoming.write(chunk), end: () => {} }
      },
    })
    return await finish(file, alongside)
  } catch (error) {
    // What goes wrong now is for the log; the caller is told what went wrong first.
    await abort(file).catch(call.site.report)
    await dismiss(call, declared, body)
    throw error
  } finally {
    done()
  }
}

type ReceivedFile = { readonly headers: PartHeaders; readonly incoming: Incoming } | null

function finish(file: ReceivedFile, alongside: Alongside): Promise<StoredFile> {
  if (file === null) {
    throw new Refusal('INVALID_REQUEST', 'The form has no part named "file" with a file name')
  }
  return file.incoming.finish(file.headers.filename ?? '', file.headers.contentType, alongside)
}

async function abort(file: ReceivedFile): Promise<void> {
  await file?.incoming.abort()
}

/** What the file weighs when it is the last part, as it nearly always is: all but the final boundary's line. */
function contentSize(
  declared: number | null,
  offset: number,
  boundary: string,
): { least: number; most: number } {
  if (declared === null) return { least: 0, most: 0 }
  const most = Math.max(0, declared - offset - `\r\n--${boundary}--\r\n`.length)
  return { least: Math.max(0, most - LARGEST_ENVELOPE), most }
}

/** The length of the body, as far as it is declared. */
export function declaredLength(request: Request): number | null {
  const header = request.headers.get('content-length')
  return header === null ? null : Number(header)
}

/**
 * Deals with what is left of a refused body, so that a sender that sends on regardless sees the answer and not a
 * reset, where what is left is little: it is read off. With more to come the connection is closed after the answer.
 */
export async function dismiss(call: Call, declared: number | null, body: PacedBody): Promise<void> {
  if (declared !== null && declared - body.received() > READ_OFF) {
    call.headers.set('Connection', 'close')
    return
  }
  if (!(await body.readOff(READ_OFF))) call.headers.set('Connection', 'close')
}

/** The same for an upload that was refused before its body was read. */
export async function leaveBody(call: Call): Promise<void> {
  const source = call.request.body
  if (source === null) return
  const body = pacedBody(source, call.site.clock)
  await body.cancel(null)
  await dismiss(call, declaredLength(call.request), body)
}
