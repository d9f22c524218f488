import { SECOND } from '../domain/clock.ts'
import { type Uploaded, uploaded } from './answers.ts'
import { readJsonAnswer, sendRequest } from './http.ts'
import { idleTimeout } from './idle-timeout.ts'
import { TRANSFER } from './policy/retry-policy.ts'
import type { UploadJob, UploadParts } from './upload-job.ts'

export interface BegunWhole {
  readonly idempotencyKey: string
  readonly sha256: string
}

/** Silence until the answer: the kernel takes a small body at once. */
const QUIET = 120 * SECOND

/**
 * Its idempotency key is stored before the first byte, so a lost answer or a kill stores no second file.
 * `begun`: an earlier run's key, which is not used for other bytes.
 */
export async function uploadWhole(
  { server, retries, states }: UploadParts,
  { id, opened, file, folder, transfer }: UploadJob,
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
          ...(folder === 'root' ? {} : { 'X-Folder-ID': folder }),
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
