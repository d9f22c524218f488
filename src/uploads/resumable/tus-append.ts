import type { Caller } from '../../core/callers.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Call } from '../../server/call.ts'
import { minimumRateBody } from '../minimum-rate-body.ts'
import { declaredLength, drainBody, emptyBody } from '../receive.ts'
import type { UploadsPart } from '../uploads.part.ts'
import type { ResumableUpload } from './resumable-uploads.ts'
import { assertTus, bytesHeader, CHUNK_TYPE, expectedChecksum, hasChunk } from './tus-headers.ts'
import { guestsReceipt, stateHeaders } from './tus-status.ts'

export async function appendToUpload(
  call: Call,
  uploads: UploadsPart,
  caller: Caller,
  name: string,
): Promise<Response> {
  assertTus(call)
  if (!hasChunk(call.request)) {
    throw new Refusal('UNSUPPORTED_MEDIA_TYPE', `The Content-Type must be ${CHUNK_TYPE}`)
  }
  const offset = bytesHeader(call.request, 'Upload-Offset')
  if (offset === null)
    throw new Refusal(
      'INVALID_REQUEST',
      'Send Upload-Offset: the number of bytes that the server has already',
    )
  const size = bytesHeader(call.request, 'Upload-Length')
  const upload = await takeChunk(call, uploads, caller, name, { offset, size })
  if (upload.state === 'completed') guestsReceipt(call, uploads, upload)
  return new Response(null, { status: 204, headers: stateHeaders(call.site, uploads, upload) })
}

export async function takeChunk(
  call: Call,
  { resumable, senders }: UploadsPart,
  caller: Caller,
  name: string,
  { offset, size }: { readonly offset: number; readonly size: number | null },
): Promise<ResumableUpload> {
  const checksum = expectedChecksum(call.request)
  const length = declaredLength(call.request)
  const source = minimumRateBody(call.request.body ?? emptyBody(), call.site.clock, () =>
    senders.came(caller),
  )
  // A creation with the first bytes has not told its client the address yet.
  const kind = call.params.upload === undefined ? 'whole' : 'resumable'
  const done = call.site.uploadsUnderWay.begin(source.end, kind)
  try {
    return await resumable.append(caller, name, {
      offset,
      size,
      length,
      checksum,
      source,
    })
  } catch (error) {
    // Received bytes are kept: a stopping server need not wait for draining.
    done()
    await source.cancel(error)
    await drainBody(call, length, source)
    throw error
  } finally {
    await source.cancel(null)
    done()
  }
}
