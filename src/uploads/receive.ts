import type { Sender } from '../core/callers.ts'
import type { Answers } from '../domain/upload-terms.ts'
import type { Call } from '../server/call.ts'
import { contentLength } from '../server/requests/body.ts'
import type { StoredFile } from './commit.ts'
import { type MinimumRateBody, minimumRateBody } from './minimum-rate-body.ts'
import type { UploadFormat } from './upload-format.ts'
import type { UploadsPart } from './uploads.part.ts'

/** Bytes of a refused body that are read, so that the client sees the answer. */
const MOST_DRAINED = 1024 * 1024

/**
 * `folder`: as sent. `answers`: valid once the format is at the file. Bodies have a minimum rate and end at shutdown.
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

/** Throws as `contentLength` does. */
export function declaredLength(request: Request): number | null {
  return contentLength(request.headers)
}

/**
 * Reads a short rest, so that a client that keeps sending sees the answer instead of a reset. Else the connection is
 * closed after the answer, also for a client that awaits 100 Continue.
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

/** For a body whose reading never began. */
export async function drainUnread(call: Call): Promise<void> {
  const source = call.request.body
  if (source === null || source.locked) return
  const body = minimumRateBody(source, call.site.clock)
  await body.cancel(null)
  await drainBody(call, declaredLength(call.request), body)
}
