import type { Caller } from '../core/callers.ts'
import { cleanFileName } from '../domain/file-name.ts'
import { type FolderPlace, parseFolderPlace } from '../domain/ids.ts'
import type { Announce, AnnouncedFile, Carrier } from './carrier.ts'
import type { StoredFile } from './commit.ts'
import type { DirectUpload } from './direct-upload.ts'
import type { DirectUploads } from './direct-uploads.ts'
import type { AdmitGuest } from './guest-admission.ts'
import type { FirstRequest, Idempotency } from './idempotency.ts'
import { checkedKey, repeatedFile } from './idempotency-key.ts'
import type { BodyReader } from './multipart.ts'

/** A request that brings one file. */
export interface UploadRequest {
  /** The folder's identifier as it was sent, or null. */
  readonly folder: string | null
  /** The Idempotency-Key as it was sent, or null. */
  readonly key: string | null
  readonly carrier: Carrier
  readonly body: BodyReader
  /** Declared length of the body, or null. */
  readonly declared: number | null
}

export interface UploadRequestsParts {
  readonly direct: DirectUploads
  readonly idempotency: Idempotency
  readonly admitGuest: AdmitGuest
  readonly report: (error: unknown) => void
}

/** Receives files that come in one request, as forms or raw bodies. */
export class UploadRequests {
  readonly #parts: UploadRequestsParts

  constructor(parts: UploadRequestsParts) {
    this.#parts = parts
  }

  /**
   * Stores the file, or finds the one that an earlier request with the same key led to; of a repeated request the body may
   * be left unread. Guests' permission, folder, declared length and storage are checked before the body is read. Returns
   * once the file would survive a power cut; after any failure nothing is left. Throws Refusal as `AdmitGuest`,
   * `Idempotency.begin`, `DirectUploads.begin` and the carrier do.
   */
  async receive(caller: Caller, request: UploadRequest): Promise<StoredFile> {
    const { idempotency, admitGuest } = this.#parts
    const { folder, carrier, body } = request
    if (caller.kind === 'guest') await admitGuest(caller.bucket, folder !== null)
    const place = parseFolderPlace(folder)
    const key = checkedKey(request.key, caller)
    if (key === null) return this.#receiveNew(caller, place, request, null)
    const begun = await idempotency.begin(caller, carrier.route, key)
    if ('earlier' in begun) return repeatedFile(body, place, carrier, begun.earlier)
    try {
      return await this.#receiveNew(caller, place, request, begun.first)
    } finally {
      await begun.first.end()
    }
  }

  async #receiveNew(
    caller: Caller,
    place: FolderPlace,
    { carrier, body, declared }: UploadRequest,
    first: FirstRequest | null,
  ): Promise<StoredFile> {
    const { direct, report } = this.#parts
    const folder = await direct.check(caller, place, declared === null ? 0 : carrier.least(declared))
    let received: Received = null
    const announce: Announce = async (file) => {
      const upload = await direct.begin(caller, folder, file.size)
      received = { file, upload }
      return { write: (chunk) => upload.write(chunk), end: () => {} }
    }
    try {
      await carrier.read(body, announce)
      return await finish(received, place, first)
    } catch (error) {
      // What goes wrong now is for the log; the caller is told what went wrong first.
      await abort(received).catch(report)
      throw error
    }
  }
}

type Received = { readonly file: AnnouncedFile; readonly upload: DirectUpload } | null

async function finish(
  received: Received,
  place: FolderPlace,
  first: FirstRequest | null,
): Promise<StoredFile> {
  if (received === null) throw new Error('a body was read to its end without a file')
  const { file, upload } = received
  if (first === null) return upload.finish(file.name, file.type)
  const request = { name: cleanFileName(file.name), place, length: file.length }
  return upload.finish(file.name, file.type, (trx, stored) => first.record(trx, stored, request))
}

async function abort(received: Received): Promise<void> {
  await received?.upload.abort()
}
