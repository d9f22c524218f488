import { cleanFileName } from '../../domain/file-name.ts'
import type { FolderPlace } from '../../domain/ids.ts'
import type { Caller } from '../../services/caller.ts'
import type { EarlierRequest, FirstRequest } from '../../services/idempotency.ts'
import type { StoredFile } from '../../services/stored-file.ts'
import type { Incoming } from '../../services/uploads.ts'
import type { Call } from '../call.ts'
import type { Announce, AnnouncedFile, Carrier } from './carrier.ts'
import { idempotencyKey, repeatedFile } from './idempotency-key.ts'
import { type PacedBody, pacedBody } from './paced-body.ts'

/** What of a refused body is read to its end, so that the sender gets to see the answer. */
const READ_OFF = 1024 * 1024

/**
 * Receives the one file of a request, or finds the one that an earlier request with the same Idempotency-Key has led to.
 * Folder, declared length and room are checked before the body is read. Returns once the file would survive a power cut;
 * whatever goes wrong leaves nothing behind.
 */
export async function receiveFile(
  call: Call,
  caller: Caller,
  place: FolderPlace,
  carrier: Carrier,
): Promise<StoredFile> {
  const key = idempotencyKey(call.request, caller)
  if (key === null) return receiveNew(call, caller, place, carrier, null)
  const begun = await call.site.services.idempotency.begin(caller, carrier.route, key)
  if ('earlier' in begun) return receiveAgain(call, place, carrier, begun.earlier)
  try {
    return await receiveNew(call, caller, place, carrier, begun.first)
  } finally {
    await begun.first.end()
  }
}

function receiveAgain(
  call: Call,
  place: FolderPlace,
  carrier: Carrier,
  earlier: EarlierRequest,
): Promise<StoredFile> {
  return withBody(call, async (body, declared) => {
    const file = await repeatedFile(body, place, carrier, earlier)
    await dismiss(call, declared, body)
    return file
  })
}

function receiveNew(
  call: Call,
  caller: Caller,
  place: FolderPlace,
  carrier: Carrier,
  first: FirstRequest | null,
): Promise<StoredFile> {
  const { uploads } = call.site.services
  return withBody(call, async (body, declared) => {
    await uploads.check(caller, place, declared === null ? 0 : carrier.least(declared))
    let received: { readonly file: AnnouncedFile; readonly incoming: Incoming } | null = null
    const announce: Announce = async (file) => {
      const incoming = await uploads.begin(caller, place, file.size)
      received = { file, incoming }
      return { write: (chunk) => incoming.write(chunk), end: () => {} }
    }
    try {
      await carrier.read(body, announce)
      return await finish(received, place, first)
    } catch (error) {
      // What goes wrong now is for the log; the caller is told what went wrong first.
      await abort(received).catch(call.site.report)
      throw error
    }
  })
}

type Received = { readonly file: AnnouncedFile; readonly incoming: Incoming } | null

async function finish(
  received: Received,
  place: FolderPlace,
  first: FirstRequest | null,
): Promise<StoredFile> {
  if (received === null) throw new Error('a body was read to its end without a file')
  const { file, incoming } = received
  if (first === null) return incoming.finish(file.name, file.type)
  const request = { name: cleanFileName(file.name), place, length: file.length }
  return incoming.finish(file.name, file.type, (trx, stored) => first.record(trx, stored, request))
}

async function abort(received: Received): Promise<void> {
  await received?.incoming.abort()
}

/** Runs the work with the body, paced and told of when the server stops; deals with what is left of it after a failure. */
async function withBody<T>(
  call: Call,
  work: (body: PacedBody, declared: number | null) => Promise<T>,
): Promise<T> {
  const declared = declaredLength(call.request)
  const body = pacedBody(call.request.body ?? emptyBody(), call.site.clock)
  const done = call.site.uploadsUnderWay.begin(body.end)
  try {
    return await work(body, declared)
  } catch (error) {
    await body.cancel(error)
    await dismiss(call, declared, body)
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

/** The length of the body, as far as it is declared. */
export function declaredLength(request: Request): number | null {
  const header = request.headers.get('content-length')
  return header === null ? null : Number(header)
}

/**
 * Deals with what is left of a refused body, so that a sender that sends on regardless sees the answer and not a
 * reset, where what is left is little: it is read off. With more to come the connection is closed after the answer, and
 * so it is when the sender still waits to be asked for its body: it is not asked for what nobody wants.
 */
export async function dismiss(call: Call, declared: number | null, body: PacedBody): Promise<void> {
  const isUnasked = body.received() === 0 && awaitsContinue(call.request)
  if (isUnasked || (declared !== null && declared - body.received() > READ_OFF)) {
    call.headers.set('Connection', 'close')
    return
  }
  if (!(await body.readOff(READ_OFF))) call.headers.set('Connection', 'close')
}

function awaitsContinue(request: Request): boolean {
  return request.headers.get('expect')?.toLowerCase() === '100-continue'
}

/** The same for an upload that was refused before its body was read. */
export async function leaveBody(call: Call): Promise<void> {
  const source = call.request.body
  if (source === null) return
  const body = pacedBody(source, call.site.clock)
  await body.cancel(null)
  await dismiss(call, declaredLength(call.request), body)
}
