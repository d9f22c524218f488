import { SECOND } from '../domain/clock.ts'
import { type Uploaded, uploaded } from './answers.ts'
import { isProxyLimit } from './chunk-size.ts'
import { ClientError, isAnswer, UploadGivenUp } from './failure.ts'
import { idleTimeout, readJsonAnswer, sendRequest } from './http.ts'
import { type FoundFile, openLocalFile } from './local-file.ts'
import { uploadInParts } from './partial-uploads.ts'
import { MOST_ANEW, mayGoInParts, pauseBeforeAnew, TRANSFER } from './policy/upload-policy.ts'
import { uploadResumably } from './resumable-upload.ts'
import { isUploadGone } from './tus.ts'
import type { UploadJob, UploadParts } from './upload-job.ts'
import { needsTus, placeHeaders } from './upload-place.ts'
import { type KeptUploadState, type UploadDestination, uploadId } from './upload-states.ts'

/** Sent in one request, which is quickest for small files. */
const LARGEST_WHOLE = 4 * 1024 * 1024

/** Resumes an earlier run. Leaves the state `done`, to be removed after the whole command. */
export async function uploadLocalFile(
  parts: UploadParts,
  file: FoundFile,
  destination: UploadDestination,
): Promise<Uploaded> {
  const id = uploadId(file, destination)
  const state = await parts.states.read(id)
  const opened = await openLocalFile(file)
  const transfer = parts.watch.begin(file.shown, file.size, 0)
  try {
    if (state?.kind === 'done' && (await isThere(parts, state.result.slug))) {
      // Equal size and date do not prove equal bytes.
      if (state.result.sha256 === (await opened.sha256())) return state.result
    }
    const job: UploadJob = { id, file, opened, place: destination.place, transfer }
    const result = await sendAnew(parts, job, state)
    await opened.assertUnchanged()
    if (result.sha256 !== (await opened.sha256())) {
      throw new ClientError(
        `what arrived of ${file.shown} is not what was sent: it has another SHA-256. Delete it (${result.url}) and send it again.`,
      )
    }
    await parts.states.write(id, { kind: 'done', result }, false)
    return result
  } finally {
    transfer.end()
    await opened.close()
  }
}

/** Restarts an upload that the server discarded, a few times: its store may refuse it for good. */
async function sendAnew(
  parts: UploadParts,
  job: UploadJob,
  state: KeptUploadState | null,
): Promise<Uploaded> {
  for (let times = 0; ; times += 1) {
    try {
      return await send(parts, job, times === 0 ? state : null)
    } catch (error) {
      if (!(error instanceof UploadGivenUp || isUploadGone(error))) throw error
      await parts.states.remove(job.id)
      if (times === MOST_ANEW) {
        throw new ClientError(
          `the server received it ${times + 1} times, and its storage refuses it: ${error.message}`,
        )
      }
      const pause = pauseBeforeAnew(times)
      parts.watch.say(`${job.file.shown}: ${error.message} (sending it again in ${pause / SECOND} s)`)
      await parts.retries.wait(pause)
    }
  }
}

/** Most bytes of a form besides the file. */
const ENVELOPE = 1024

async function send(parts: UploadParts, job: UploadJob, state: KeptUploadState | null): Promise<Uploaded> {
  const isSmall = !needsTus(job.place) && job.file.size <= Math.min(LARGEST_WHOLE, parts.chunkSize.current())
  if (state?.kind === 'resumable') {
    const { upload: path, receipt = null } = state
    return uploadResumably(parts, job, { path, receipt })
  }
  if (state?.kind === 'partial uploads') return uploadInParts(parts, job, state)
  if (!isSmall) {
    const inParts = mayGoInParts(job.file.size, parts.connections) && (await parts.line.isLong())
    return inParts ? uploadInParts(parts, job, null) : uploadResumably(parts, job, null)
  }
  try {
    return await uploadWhole(parts, job, state?.kind === 'whole' ? state : null)
  } catch (error) {
    if (!isProxyLimit(error)) throw error
    parts.chunkSize.refused(job.file.size + ENVELOPE)
    return uploadResumably(parts, job, null)
  }
}

async function isThere({ server, retries }: UploadParts, slug: string): Promise<boolean> {
  const path = `/d/${slug}`
  return retries.persist(TRANSFER, () =>
    sendRequest(server, { method: 'HEAD', path }).then(
      () => true,
      (error) => {
        if (isAnswer(error, 404)) return false
        throw error
      },
    ),
  )
}

interface BegunWhole {
  readonly idempotencyKey: string
  readonly sha256: string
}

/** Silence until the answer: the kernel takes a small body at once. */
const QUIET = 120 * SECOND

/**
 * Its idempotency key is stored before the first byte, so a lost answer or a kill stores no second file.
 * `begun`: an earlier run's key, which is not used for other bytes.
 */
async function uploadWhole(
  { server, retries, states }: UploadParts,
  { id, opened, file, place, transfer }: UploadJob,
  begun: BegunWhole | null,
): Promise<Uploaded> {
  const bytes = await opened.bytes()
  await opened.assertUnchanged()
  const sha256 = await opened.sha256()
  const isOurs = begun?.sha256 === sha256
  const idempotencyKey = isOurs ? begun.idempotencyKey : crypto.randomUUID()
  if (!isOurs) await states.write(id, { kind: 'whole', idempotencyKey, sha256 }, false)
  return retries.persist(TRANSFER, async () => {
    const idle = idleTimeout(QUIET)
    try {
      const { type, body } = form(file.name, bytes)
      const response = await sendRequest(server, {
        method: 'POST',
        path: '/api/v1/upload',
        headers: {
          'Content-Type': type,
          'Idempotency-Key': idempotencyKey,
          ...placeHeaders(place),
        },
        body,
        signal: idle.signal,
      })
      const result = await readJsonAnswer(server, response, uploaded)
      transfer.at(file.size)
      return result
    } finally {
      idle.stop()
    }
  })
}

/** The name goes encoded, because no two programs agree on how to quote it. */
function form(name: string, bytes: Uint8Array<ArrayBuffer>): { type: string; body: Blob } {
  const boundary = `holdfast-${crypto.randomUUID()}`
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  )
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"; filename*=UTF-8''${encoded}\r\n\r\n`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: new Blob([head, bytes, `\r\n--${boundary}--\r\n`]),
  }
}
