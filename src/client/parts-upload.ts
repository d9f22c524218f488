import type { Uploaded } from './answers.ts'
import { AnswerError, ClientError } from './failure.ts'
import { FileChanged } from './local-file.ts'
import { type PartRange, partRanges } from './policy/parts-policy.ts'
import { MOVING } from './policy/retry-policy.ts'
import { sendChunk, untilStored } from './resumable-upload.ts'
import { sideBySide } from './side-by-side.ts'
import {
  concatenateUploads,
  createRemoteUpload,
  type NewRemoteUpload,
  type RemoteConcatenation,
  type RemoteUpload,
  terminateUpload,
  type UploadPath,
  uploadOffset,
} from './tus.ts'
import type { UploadJob, UploadParts } from './upload-job.ts'

/**
 * A large file over several connections, as parts that the server concatenates. `begun`: the parts that an earlier run
 * has begun. Where one of them is gone, all begin anew.
 */
export async function uploadInParts(
  parts: UploadParts,
  job: UploadJob,
  begun: readonly UploadPath[] | null,
): Promise<Uploaded> {
  const { server, states } = parts
  const paths = begun ?? (await beginParts(parts, job))
  const whole = await announced(parts, job, paths)
  // A later run would tell the same again, or of one that has lost a part.
  if (begun === null && whole?.url != null) {
    parts.watch.say(`${job.file.shown} has its link already: ${whole.url}`)
  }
  try {
    return await new PartsUpload(parts, job, paths, { isResumed: begun !== null, whole }).run()
  } catch (error) {
    const isLost = error instanceof PartLost
    if (!isLost && !(error instanceof FileChanged)) throw error
    // Nobody will go on with these; where the server cannot be told, they expire by themselves.
    for (const path of [...(whole === null ? [] : [whole.path]), ...paths]) {
      await terminateUpload(server, path).catch(() => {})
    }
    await states.remove(job.id)
    if (isLost && begun !== null) return uploadInParts(parts, job, null)
    throw error
  }
}

/** Creates all parts before the first byte, so that one note tells a later run of them. */
async function beginParts(
  { server, retries, states }: UploadParts,
  { id, file, folder }: UploadJob,
): Promise<UploadPath[]> {
  const tries = await Promise.allSettled(
    partRanges(file.size).map(({ from, to }) =>
      retries.persist(MOVING, () =>
        createRemoteUpload(server, { name: file.name, size: to - from, folder, isPart: true }),
      ),
    ),
  )
  const paths = tries.flatMap((tried) => (tried.status === 'fulfilled' ? [tried.value.path] : []))
  const failed = tries.find((tried) => tried.status === 'rejected')
  if (failed !== undefined) {
    for (const path of paths) await terminateUpload(server, path).catch(() => {})
    throw failed.reason
  }
  await states.write(id, { kind: 'parts', parts: paths }, true)
  return paths
}

/**
 * The whole, made before its parts have come, so that whoever waits for it may have its link; null where the server makes it
 * only of parts that are all there, or not of these.
 */
async function announced(
  { server, retries }: UploadParts,
  job: UploadJob,
  paths: readonly UploadPath[],
): Promise<NewRemoteUpload | null> {
  try {
    return await retries.persist(MOVING, () => concatenateUploads(server, wholeOf(job, paths)))
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error
    return null
  }
}

/** The key is the same in each run, so that a lost answer costs nothing. */
function wholeOf({ id, file, folder }: UploadJob, parts: readonly UploadPath[]): RemoteConcatenation {
  return { name: file.name, folder, parts, idempotencyKey: id }
}

class PartLost extends ClientError {
  constructor() {
    super('the server has lost a part of the upload; run the command again')
  }
}

interface Part {
  readonly path: UploadPath
  readonly range: PartRange
  /** Bytes of it that the server has. */
  safe: number
  /** Bytes of it that are sent. */
  sent: number
}

class PartsUpload {
  readonly #shared: UploadParts
  readonly #job: UploadJob
  readonly #isResumed: boolean
  readonly #whole: RemoteUpload | null
  readonly #all: readonly Part[]
  #failure: { readonly error: unknown } | null = null
  #hashing: Promise<void> | null = null

  /** `whole`: the upload that they are going to be, where there is one already. */
  constructor(
    shared: UploadParts,
    job: UploadJob,
    paths: readonly UploadPath[],
    { isResumed, whole }: { readonly isResumed: boolean; readonly whole: RemoteUpload | null },
  ) {
    this.#shared = shared
    this.#job = job
    this.#isResumed = isResumed
    this.#whole = whole
    const ranges = partRanges(job.file.size, paths.length)
    this.#all = paths.flatMap((path, number) => {
      const range = ranges[number]
      return range === undefined ? [] : [{ path, range, safe: 0, sent: 0 }]
    })
  }

  async run(): Promise<Uploaded> {
    const { server, retries, connections } = this.#shared
    const { opened } = this.#job
    try {
      const send = (part: Part) => this.#send(part)
      await sideBySide(each(this.#all), Math.max(1, connections), send, () => {})
    } finally {
      await this.#hashing
    }
    await opened.assertUnchanged()
    return untilStored(server, this.#whole ?? (await this.#concatenated()), retries)
  }

  #concatenated(): Promise<RemoteUpload> {
    const { server, retries } = this.#shared
    const parts = this.#all.map(({ path }) => path)
    return retries.persist(MOVING, () => concatenateUploads(server, wholeOf(this.#job, parts)))
  }

  async #send(part: Part): Promise<void> {
    let isKnown = !this.#isResumed
    const attempt = async () => {
      this.#assertGoing()
      await this.#job.opened.assertUnchanged()
      if (!isKnown) this.#reached(part, await this.#kept(part))
      isKnown = false
      while (part.safe < lengthOf(part)) this.#reached(part, await this.#sendChunk(part))
    }
    try {
      await this.#shared.retries.persist(MOVING, attempt, () => part.safe)
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

  async #sendChunk(part: Part): Promise<number> {
    const { server, chunkSize } = this.#shared
    const { opened } = this.#job
    const { path, range, safe: offset } = part
    const length = Math.min(chunkSize.current(), lengthOf(part) - offset)
    const start = range.from + offset
    const body = (stir: () => void) => {
      part.sent = offset
      return opened.unhashedStream(start, start + length, (bytes) => {
        this.#assertGoing()
        stir()
        part.sent += bytes
        this.#show()
      })
    }
    const reached = await sendChunk(server, path, { offset, length, body }, chunkSize)
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
    // Hashed as quickly as it is sent, not before: a file of many gigabytes would keep the processor from sending.
    this.#hashing ??= this.#job.opened
      .hashUpTo(sent)
      .catch(() => {})
      .finally(() => {
        this.#hashing = null
      })
  }

  /** What has failed for good in one part ends the others, too. */
  #assertGoing(): void {
    if (this.#failure !== null) throw new ClientError('another part of the file could not be sent')
  }
}

const lengthOf = ({ range }: Part): number => range.to - range.from

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items
}
