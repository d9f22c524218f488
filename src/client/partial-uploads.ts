import type { Uploaded } from './answers.ts'
import { ClientError, isAnswer, UploadGivenUp } from './failure.ts'
import type { RemoteServer } from './http.ts'
import { FileChanged } from './local-file.ts'
import { mapConcurrently } from './map-concurrently.ts'
import { HELD_BACK, partLengths, TRANSFER } from './policy/upload-policy.ts'
import { sendChunk, untilStored } from './resumable-upload.ts'
import {
  createFinalUpload,
  createRemoteUpload,
  isUploadGone,
  type NewRemoteUpload,
  type RemoteUpload,
  terminateUpload,
  type UploadPath,
  uploadOffset,
  uploadOffsetAndBefore,
} from './tus.ts'
import type { UploadJob, UploadParts } from './upload-job.ts'

export interface BegunInParts {
  /** Of the final upload. */
  readonly idempotencyKey: string
  /** Partial uploads, in order. */
  readonly uploads: readonly { readonly path: UploadPath; readonly length: number }[]
}

/** `before`: an earlier run's partial uploads; begins anew where one is gone. */
export async function uploadInParts(
  shared: UploadParts,
  job: UploadJob,
  before: BegunInParts | null,
): Promise<Uploaded> {
  const { server, states } = shared
  const begun = before ?? (await begin(shared, job))
  let whole: NewRemoteUpload | null = null
  try {
    whole = await createWhole(shared, job, begun)
    // A later run would announce the same link, or one that lost a part.
    if (before === null && whole.url !== null) {
      shared.watch.say(`${job.file.shown} has its link already: ${whole.url}`)
    }
    return await new PartsUpload(shared, job, whole, begun, before !== null).run()
  } catch (error) {
    const isLost = error instanceof PartLost || (whole === null && isRefusedForGood(error))
    if (!isLost && !(error instanceof FileChanged)) throw error
    await terminateAll(server, whole === null ? begun.uploads : [whole])
    await states.remove(job.id)
    if (isLost && before !== null) return uploadInParts(shared, job, null)
    throw error
  }
}

/** Creates all partial uploads before the first byte, and records them, so that a later run finds them. */
async function begin(
  { server, retries, states, connections }: UploadParts,
  { id, file, place }: UploadJob,
): Promise<BegunInParts> {
  const created: { readonly path: UploadPath; readonly length: number }[] = []
  const uploads: typeof created = []
  try {
    const create = (length: number) =>
      retries.persist(TRANSFER, async () => {
        const wanted = { name: file.name, size: length, place, isPartial: true } as const
        const upload = { path: (await createRemoteUpload(server, wanted)).path, length }
        created.push(upload)
        return upload
      })
    const inOrder = (upload: (typeof created)[number]) => void uploads.push(upload)
    await mapConcurrently(each(partLengths(file.size)), Math.max(1, connections), create, inOrder)
    const begun = { idempotencyKey: crypto.randomUUID(), uploads }
    await states.write(id, { kind: 'partial uploads', ...begun }, true)
    return begun
  } catch (error) {
    await terminateAll(server, created)
    throw error
  }
}

/** Before the bytes have come, so that the link exists at once. */
function createWhole(
  { server, retries }: UploadParts,
  { file: { name }, place }: UploadJob,
  { idempotencyKey, uploads }: BegunInParts,
): Promise<NewRemoteUpload> {
  const wanted = { name, place, of: uploads.map(({ path }) => path), idempotencyKey }
  return retries.persist(TRANSFER, () => createFinalUpload(server, wanted))
}

/** A partial upload, or the final one, has ended. */
function isRefusedForGood(error: unknown): boolean {
  return isUploadGone(error) || isAnswer(error, 409, 'OFFSET_CONFLICT')
}

/** Those that the server cannot be told of expire. */
async function terminateAll(
  server: RemoteServer,
  uploads: readonly { readonly path: UploadPath }[],
): Promise<void> {
  for (const { path } of uploads) await terminateUpload(server, path).catch(() => {})
}

class PartLost extends UploadGivenUp {
  constructor() {
    super('the server has lost a part of the upload')
  }
}

interface Part {
  readonly path: UploadPath
  readonly from: number
  readonly length: number
  safe: number
  sent: number
}

class PartsUpload {
  readonly #shared: UploadParts
  readonly #job: UploadJob
  readonly #whole: RemoteUpload
  readonly #all: readonly Part[]
  readonly #isResumed: boolean
  #failure: { readonly error: unknown } | null = null
  #hashing: Promise<void> | null = null

  constructor(
    shared: UploadParts,
    job: UploadJob,
    whole: RemoteUpload,
    { uploads }: BegunInParts,
    isResumed: boolean,
  ) {
    this.#shared = shared
    this.#job = job
    this.#whole = whole
    let from = 0
    this.#all = uploads.map(({ path, length }) => {
      const part = { path, from, length, safe: 0, sent: 0 }
      from += length
      return part
    })
    this.#isResumed = isResumed
  }

  async run(): Promise<Uploaded> {
    const { server, retries, connections } = this.#shared
    // In order, so that a concurrent reader of the file is close behind.
    const inOrder = (work: (part: Part) => Promise<void>) =>
      mapConcurrently(each(this.#all), Math.max(1, connections), work, () => {})
    try {
      // Before any bytes are sent: one may be gone.
      if (this.#isResumed) await inOrder((part) => this.#look(part))
      const last = this.#all.findLast(({ safe, length }) => safe < length)
      const end = (part: Part) => (part === last ? Math.max(part.safe, part.length - HELD_BACK) : part.length)
      await inOrder((part) => this.#send(part, end(part)))
      if (last !== undefined) await this.#send(last, last.length, true)
    } finally {
      await this.#hashing
    }
    return untilStored(server, this.#whole, retries)
  }

  #look(part: Part): Promise<void> {
    const { server, retries } = this.#shared
    return retries.persist(TRANSFER, async () => {
      const kept = await uploadOffsetAndBefore(server, part.path, true)
      // Bytes of the file before its change are no use.
      if (kept === null || !(await this.#job.opened.continues(part.from + kept.offset, kept.before)))
        throw new PartLost()
      this.#reached(part, kept.offset)
    })
  }

  /** Sends up to `end` in the part. `isLast`: these bytes complete the file. */
  async #send(part: Part, end: number, isLast = false): Promise<void> {
    let isKnown = true
    const attempt = async () => {
      this.#assertGoing()
      await this.#job.opened.assertUnchanged()
      if (!isKnown) this.#reached(part, await this.#kept(part))
      isKnown = false
      while (part.safe < end) this.#reached(part, await this.#sendChunk(part, end, isLast))
    }
    try {
      await this.#shared.retries.persist(TRANSFER, attempt, () => part.safe)
    } catch (error) {
      this.#failure ??= { error }
      throw this.#failure.error
    }
  }

  async #kept({ path }: Part): Promise<number> {
    const kept = await uploadOffset(this.#shared.server, path)
    if (kept === null) throw new PartLost()
    return kept
  }

  async #sendChunk(part: Part, end: number, isLast: boolean): Promise<number> {
    const { server, chunkSize } = this.#shared
    const { opened } = this.#job
    const { path, safe: offset } = part
    const length = Math.min(chunkSize.current(), end - offset)
    const start = part.from + offset
    if (isLast) {
      const bytes = await opened.bytes(start, start + length)
      await opened.assertUnchanged()
      return sendChunk(server, path, { offset, length, body: () => bytes, mayShare: true }, chunkSize)
    }
    const body = (stir: () => void) => {
      part.sent = offset
      return opened.unhashedStream(start, start + length, (bytes) => {
        this.#assertGoing()
        stir()
        part.sent += bytes
        this.#show()
      })
    }
    const reached = await sendChunk(server, path, { offset, length, body, mayShare: true }, chunkSize)
    await opened.assertUnchanged()
    return reached
  }

  #reached(part: Part, offset: number): void {
    part.safe = offset
    part.sent = offset
    this.#show()
  }

  #show(): void {
    const sent = this.#all.reduce((sum, part) => sum + part.sent, 0)
    this.#job.transfer.at(sent)
    // Hashes while sending: hashing gigabytes first would delay the upload.
    this.#hashing ??= this.#job.opened
      .hashUpTo(sent)
      .catch(() => {})
      .finally(() => {
        this.#hashing = null
      })
  }

  #assertGoing(): void {
    if (this.#failure !== null) throw new ClientError('another part of the file could not be sent')
  }
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items
}
