import type { Sender } from '../core/callers.ts'
import type { Answers } from '../domain/upload-terms.ts'
import type { Call } from '../server/call.ts'
import { contentLength } from '../server/requests/body.ts'
import type { StoredFile } from './commit.ts'
import { type MinimumRateBody, minimumRateBody } from './minimum-rate-body.ts'
import type { UploadFormat } from './upload-format.ts'
import type { UploadsPart } from './uploads.part.ts'

/** Bytes left of a refused body that are read to its end, so that the sender gets to see the answer. */
const MOST_DRAINED = 1024 * 1024

/**
 * Hands the request's body to `UploadRequests.receive` with a minimum rate, ended when the server stops; deals with what is left of
 * it. `folder`: as it was sent, or null. `answers`: what a contributor said, once the format is at the file.
 */
export async function receiveFile(
  call: Call,
  uploads: UploadsPart,
  caller: Sender,
  {
    folder,
    format,
    answers = () => ({}),
  }: { readonly folder: string | null; readonly format: UploadFormat; readonly answers?: () => Answers },
): Promise<StoredFile> {
  const { request, site } = call
  const declared = declaredLength(request)
  const key = request.headers.get('idempotency-key')
  const body = minimumRateBody(request.body ?? emptyBody(), site.clock, () => uploads.senders.came(caller))
  const done = site.uploadsUnderWay.begin(body.end, 'whole')
  try {
    const file = await uploads.requests.receive(caller, { folder, key, format, body, declared, answers })
    if (!body.hasEnded()) {
      await body.cancel(null)
      await drainBody(call, declared, body)
    }
    return file
  } catch (error) {
    await body.cancel(error)
    await drainBody(call, declared, body)
    throw error
  } finally {
    done()
  }
}

export function emptyBody(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.close(),
  })
}

/** The length of the body, as far as it is declared. Throws as `contentLength` does. */
export function declaredLength(request: Request): number | null {
  return contentLength(request.headers)
}

/**
 * Deals with what is left of a refused body, so that a sender that sends on regardless sees the answer and not a
 * reset, where what is left is little: it is read off. With more to come the connection is closed after the answer, and
 * so it is when the sender still waits to be asked for its body: it is not asked for what nobody wants.
 */
export async function drainBody(call: Call, declared: number | null, body: MinimumRateBody): Promise<void> {
  const isUnasked = body.received() === 0 && awaitsContinue(call.request)
  if (isUnasked || (declared !== null && declared - body.received() > MOST_DRAINED)) {
    call.headers.set('Connection', 'close')
    return
  }
  if (!(await body.drain(MOST_DRAINED))) call.headers.set('Connection', 'close')
}

function awaitsContinue(request: Request): boolean {
  return request.headers.get('expect')?.toLowerCase() === '100-continue'
}

/** `drainBody` for an upload that was refused before anybody began to read its body. */
export async function drainUnread(call: Call): Promise<void> {
  const source = call.request.body
  if (source === null || source.locked) return
  const body = minimumRateBody(source, call.site.clock)
  await body.cancel(null)
  await drainBody(call, declaredLength(call.request), body)
}
