import type { Caller, Sender } from '../core/callers.ts'
import { type Clock, MINUTE, repeat } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { FolderPlace } from '../domain/ids.ts'
import { nameByContent } from '../domain/media-type.ts'
import type { Answers } from '../domain/upload-terms.ts'
import type { Call } from '../server/call.ts'
import { contentLength, declaresBody } from '../server/requests/body.ts'
import type { StoredFile } from './commit.ts'
import { HEAD_LENGTH } from './incoming-content.ts'
import type { BodyReader } from './multipart.ts'
import { decodedWords, nameInPath } from './sent-file-name.ts'
import { assertWhole, type UploadFormat } from './upload-format.ts'
import type { UploadsModule } from './uploads.module.ts'

/**
 * The request's sender, and the folder that it names: by the receipt of a transfer, whoever sends it, a guest in the
 * transfer's folder. Throws Refusal INVALID_REQUEST, and NOT_FOUND or RATE_LIMITED for a receipt.
 */
export async function senderOf(
  { request: { headers }, bucket }: Call,
  { receipts }: Pick<UploadsModule, 'receipts'>,
  caller: Caller,
): Promise<{ readonly sender: Caller; readonly folder: string | null }> {
  const folder = headers.get('x-folder-id')
  const text = headers.get(TRANSFER_HEADER)
  if (text === null) return { sender: caller, folder }
  if (folder !== null) {
    throw new Refusal('INVALID_REQUEST', `Send X-Folder-ID or ${TRANSFER_HEADER}, not both`)
  }
  const within = await receipts.transferFolder({ text, bucket })
  return { sender: { kind: 'guest', bucket, within }, folder: null }
}

const TRANSFER_HEADER = 'Holdfast-Transfer'

/** Bytes of a refused body that are read, so that the client sees the answer. */
const MOST_DRAINED = 1024 * 1024

/**
 * `folder`: as sent. `answers`: valid once the format is at the file. Bodies have a minimum rate and end at shutdown.
 */
export async function receiveFile(
  call: Call,
  uploads: UploadsModule,
  caller: Sender,
  {
    folder,
    format,
    answers = () => ({}),
  }: { readonly folder: string | null; readonly format: UploadFormat; readonly answers?: () => Answers },
): Promise<StoredFile> {
  const declared = declaredLength(call.request)
  const key = call.request.headers.get('idempotency-key')
  return receiveBody(call, uploads, caller, (body) =>
    uploads.requests.receive(caller, { folder, key, format, body, declared, answers }),
  )
}

/** The files of a form; see `RequestUploads.receiveAll`. */
export function receiveFiles(
  call: Call,
  uploads: UploadsModule,
  caller: Caller,
  { place, format }: { readonly place: FolderPlace; readonly format: UploadFormat },
): Promise<void> {
  return receiveBody(call, uploads, caller, (body) =>
    uploads.requests.receiveAll(caller, place, { format, body }),
  )
}

async function receiveBody<T>(
  call: Call,
  uploads: UploadsModule,
  caller: Sender,
  receive: (body: MinimumRateBody) => Promise<T>,
): Promise<T> {
  const { request, site } = call
  const declared = declaredLength(request)
  const body = minimumRateBody(request.body ?? emptyBody(), site.clock, () => uploads.senders.came(caller))
  const done = site.uploadsUnderWay.begin(body.end, 'whole')
  try {
    const received = await receive(body)
    if (!body.hasEnded()) {
      await body.cancel(null)
      await drainBody(call, declared, body)
    }
    return received
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

/** Bytes for each minute spent waiting for the client: 1 KiB a second. */
const LEAST_PER_MINUTE = 60 * 1024
const LOOK_EVERY = 1000

/** A chunk is valid until the next read. */
export interface MinimumRateBody extends BodyReader {
  hasEnded(): boolean
  received(): number
  /** Milliseconds that the pending read has waited; 0 without one. */
  quietFor(): number
  end(reason: Refusal): void
  /** Reads and drops at most `most` bytes, for two seconds. Returns whether the body has ended. */
  drain(most: number): Promise<boolean>
}

/** Milliseconds. */
const PATIENCE = 2000

/** Frees memory at once: many uploads' chunks would pile up between garbage collections. */
function free(chunk: Uint8Array | null): void {
  if (chunk === null || !(chunk.buffer instanceof ArrayBuffer)) return
  if (chunk.byteLength === chunk.buffer.byteLength) chunk.buffer.transfer(0)
}

/** Throws Refusal REQUEST_TIMEOUT for a slow client; our own disk does not count. `came`'s promise is awaited. */
export function minimumRateBody(
  body: ReadableStream<Uint8Array>,
  clock: Clock,
  came: () => Promise<void> | null = () => null,
): MinimumRateBody {
  const reader = body.getReader()
  let received = 0
  let failure: Refusal | null = null
  let waitingSince: number | null = null
  let waited = 0
  let receivedBefore = 0
  let last: Uint8Array | null = null
  let hasEnded = false

  function end(reason: Refusal): void {
    stopLooking()
    failure ??= reason
    reader.cancel(reason).catch(() => {})
  }

  function look(): void {
    const waiting = waitingSince === null ? 0 : clock.monotonic() - waitingSince
    if (waited + waiting < MINUTE) return
    if (received - receivedBefore < LEAST_PER_MINUTE) {
      end(new Refusal('REQUEST_TIMEOUT', 'The upload came too slowly and was ended; start it again'))
      return
    }
    receivedBefore = received
    waited = 0
    if (waitingSince !== null) waitingSince = clock.monotonic()
  }

  const stopLooking = repeat(clock.timers, LOOK_EVERY, look)

  return {
    async read() {
      free(last)
      last = null
      waitingSince = clock.monotonic()
      try {
        const { done, value } = await reader.read()
        if (failure !== null) throw failure
        if (done) {
          stopLooking()
          hasEnded = true
          return { done: true }
        }
        received += value.byteLength
        last = value
        const noting = value.byteLength === 0 ? null : came()
        if (noting !== null) await noting
        return { done: false, value }
      } finally {
        waited += clock.monotonic() - waitingSince
        waitingSince = null
      }
    },

    hasEnded: () => hasEnded,
    received: () => received,
    quietFor: () => (waitingSince === null ? 0 : clock.monotonic() - waitingSince),
    end,

    // Unread bytes stay for `drain`.
    async cancel() {
      stopLooking()
    },

    async drain(most) {
      let gaveUp = false
      const cancelPatience = clock.timers.after(PATIENCE, () => {
        gaveUp = true
        reader.cancel().catch(() => {})
      })
      try {
        for (let left = most; left > 0; ) {
          const { done, value } = await reader.read()
          if (done) return !gaveUp && failure === null
          left -= value.byteLength
        }
      } catch {
        // The client has gone, and will not read the answer.
      } finally {
        cancelPatience()
      }
      reader.cancel().catch(() => {})
      return false
    },
  }
}

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
