import type { Sender } from '../core/callers.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName } from '../domain/file-name.ts'
import { type FolderPlace, parseFolderPlace } from '../domain/ids.ts'
import { makeSlug, makeUuid, type Random } from '../domain/random.ts'
import type { Answers } from '../domain/upload-terms.ts'
import type { FileLink, Settle, StoredFile } from './commit.ts'
import { type Contributions, hideOwnerDetails, idempotencyKeyRefused } from './contributions.ts'
import type { DirectUpload, DirectUploads } from './direct-uploads.ts'
import type { AdmitContributor, AdmitGuest } from './guest-admission.ts'
import { checkedKey, type FirstRequest, type Idempotency, repeatedFile } from './idempotency.ts'
import type { BodyReader } from './multipart.ts'
import type { Announce, AnnouncedFile, UploadFormat } from './upload-format.ts'

export interface UploadRequest {
  readonly folder: string | null
  readonly key: string | null
  readonly format: UploadFormat
  readonly body: BodyReader
  readonly declared: number | null
  /** Valid once the format is at the file. */
  readonly answers: () => Answers
}

export interface UploadRequestsParts {
  readonly direct: DirectUploads
  readonly idempotency: Idempotency
  readonly contributions: Contributions
  readonly admitGuest: AdmitGuest
  readonly admitContributor: AdmitContributor
  readonly random: Random
  readonly report: (error: unknown) => void
}

export class UploadRequests {
  readonly #parts: UploadRequestsParts

  constructor(parts: UploadRequestsParts) {
    this.#parts = parts
  }

  /**
   * Or returns an earlier request's file with the key. Checks before reading. Returns once the file would survive a
   * power cut; after a failure nothing is left. Throws Refusal as `AdmitGuest`, `Idempotency.begin`,
   * `DirectUploads.begin`, `Contributions.take` and the format do.
   */
  async receive(caller: Sender, request: UploadRequest): Promise<StoredFile> {
    const { idempotency, admitGuest, admitContributor } = this.#parts
    const { folder, format, body } = request
    if (caller.kind === 'contributor') {
      if (request.key !== null) throw idempotencyKeyRefused()
      await admitContributor(caller.bucket)
      return hideOwnerDetails(() => this.#receiveNew(caller, 'root', request, null))
    }
    if (caller.kind === 'guest') await admitGuest(caller.bucket, folder !== null)
    const place = parseFolderPlace(folder)
    const key = checkedKey(request.key, caller)
    if (key === null) return this.#receiveNew(caller, place, request, null)
    const begun = await idempotency.begin(caller, format.route, key)
    if ('earlier' in begun) return repeatedFile(body, place, format, begun.earlier)
    let isStored = false
    try {
      const file = await this.#receiveNew(caller, place, request, begun.first)
      isStored = true
      return file
    } finally {
      await begun.first.end(isStored)
    }
  }

  async #receiveNew(
    caller: Sender,
    place: FolderPlace,
    { format, body, declared, answers }: UploadRequest,
    first: FirstRequest | null,
  ): Promise<StoredFile> {
    const { direct, contributions, random, report } = this.#parts
    const least = declared === null ? 0 : format.least(declared)
    const admitted = await direct.admit(caller, place, least, declared)
    const { folder, reserved } = admitted
    let received: Received = null
    let most: number | null = null
    const announce: Announce = async (file) => {
      most = file.size.most
      if (admitted.refusal !== null) throw admitted.refusal
      if (caller.kind !== 'contributor') {
        const upload = await direct.begin(caller, folder, file.size, reserved)
        received = { file, upload, contribution: null }
        return { write: (chunk) => upload.write(chunk), end: () => {} }
      }
      const offered = { name: cleanFileName(file.name), size: lengthOf(file) }
      const said = answers()
      await contributions.check(caller, offered, said)
      const upload = await direct.begin(caller, folder, file.size, reserved)
      const link = { uuid: makeUuid(random), slug: makeSlug(random) }
      const settle: Settle = (trx, { id, size }) =>
        contributions.arrived(trx, caller, { id, size, name: offered.name }, caller.bucket)
      received = { file, upload, contribution: { link, settle } }
      const wanted = { ...offered, answers: said, uuid: link.uuid, reservation: upload.key }
      // At the first byte, or the end of an empty file: clients that send nothing block no others.
      let taken: Promise<void> | null = null
      const take = () => (taken ??= contributions.takeNow(caller, wanted))
      return {
        async write(chunk) {
          await take()
          await upload.write(chunk, offered.size)
        },
        end: take,
      }
    }
    try {
      await format.read(body, announce)
      return await finish(received, place, first)
    } catch (error) {
      // Later errors are only logged; the caller gets the first.
      await abort(received).catch(report)
      await direct.leave(admitted).catch(report)
      throw direct.refusalFor(error, most)
    }
  }
}

type Received = {
  readonly file: AnnouncedFile
  readonly upload: DirectUpload
  readonly contribution: { readonly link: FileLink; readonly settle: Settle } | null
} | null

/** Length that a link counts until the file is stored. */
function lengthOf({ length }: AnnouncedFile): number {
  if (length !== null) return length
  throw new Refusal('INVALID_REQUEST', 'Say how many bytes come, in Content-Length: this link has limits')
}

async function finish(
  received: Received,
  place: FolderPlace,
  first: FirstRequest | null,
): Promise<StoredFile> {
  if (received === null) throw new Error('a body was read to its end without a file')
  const { file, upload, contribution } = received
  if (contribution !== null) {
    const { settle, link } = contribution
    return upload.finish(file.name, file.type, { alongside: settle, link })
  }
  const request = { name: cleanFileName(file.name), place, length: file.length }
  return upload.finish(file.name, file.type, { note: first?.note(request) ?? null })
}

async function abort(received: Received): Promise<void> {
  await received?.upload.abort()
}
