import type { Uploaded } from './answers.ts'
import { ClientError, isAnswer, UploadGivenUp } from './failure.ts'
import { FileChanged } from './local-file.ts'
import { mapConcurrently } from './map-concurrently.ts'
import { HELD_BACK } from './policy/last-bytes.ts'
import { partLengths } from './policy/parts-policy.ts'
import { TRANSFER } from './policy/retry-policy.ts'
import { sendChunk, untilStored, uploadResumably } from './resumable-upload.ts'
import {
  createRemoteUpload,
  type NewRemoteUpload,
  type RemoteUpload,
  terminateUpload,
  type UploadPath,
  uploadOffset,
  uploadOffsetAndBefore,
} from './tus.ts'
import type { UploadJob, UploadParts } from './upload-job.ts'

export interface BegunInParts {
  readonly idempotencyKey: string
  readonly lengths: readonly number[]
}

/** `before`: an earlier run's upload; begins anew where it, or a part, is gone. */
export async function uploadInParts(
  shared: UploadParts,
  job: UploadJob,
  before: BegunInParts | null,
): Promise<Uploaded> {
  const { server, states } = shared
  const begun = before ?? (await note(shared, job))
  let whole: NewRemoteUpload | null = null
  try {
    whole = await create(shared, job, begun)
    // A later run would announce the same link, or one that lost a part.
    if (before === null && whole.url !== null) {
      shared.watch.say(`${job.file.shown} has its link already: ${whole.url}`)
    }
    if (whole.parts === null) return await inOnePiece(shared, job, whole)
    const parts = partsOf(whole.parts, begun.lengths)
    return await new PartsUpload(shared, job, whole, parts, before !== null).run()
  } catch (error) {
    const isLost = error instanceof PartLost || (whole === null && isAnswer(error, 410))
    if (!isLost && !(error instanceof FileChanged)) throw error
    // If the server cannot be reached, the upload expires.
    if (whole !== null) await terminateUpload(server, whole.path).catch(() => {})
    await states.remove(job.id)
    if (isLost && before !== null) return uploadInParts(shared, job, null)
    throw error
  }
}

/** Stored before use, so that a later run finds the upload. */
async function note({ states }: UploadParts, { id, file }: UploadJob): Promise<BegunInParts> {
  const begun = { idempotencyKey: crypto.randomUUID(), lengths: partLengths(file.size) }
  await states.write(id, { kind: 'parts', ...begun }, true)
  return begun
}

function create(
  { server, retries }: UploadParts,
  { file, folder }: UploadJob,
  inParts: BegunInParts,
): Promise<NewRemoteUpload> {
  const { name, size } = file
  return retries.persist(TRANSFER, () => createRemoteUpload(server, { name, size, folder, inParts }))
}

async function inOnePiece(
  shared: UploadParts,
  job: UploadJob,
  { path, receipt }: RemoteUpload,
): Promise<Uploaded> {
  await shared.states.write(job.id, { kind: 'resumable', upload: path, receipt }, true)
  return uploadResumably(shared, job, { path, receipt })
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

function partsOf(paths: readonly UploadPath[], lengths: readonly number[]): Part[] {
  if (paths.length !== lengths.length) throw new PartLost()
  let from = 0
  return paths.map((path, number) => {
    const part = { path, from, length: lengths[number] ?? 0, safe: 0, sent: 0 }
    from += part.length
    return part
  })
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
    parts: readonly Part[],
    isResumed: boolean,
  ) {
    this.#shared = shared
    this.#job = job
    this.#whole = whole
    this.#all = parts
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
