import type { BlobWriter } from './blob-store.ts'
import type { PartMemory } from './part-memory.ts'
import type { S3Client } from './s3-client.ts'
import { failing, S3Failure } from './s3-failure.ts'
import { deleteObject, objectSize, patient, putObject } from './s3-objects.ts'
import { MOST_PARTS, newPart, type Part, usualPlan } from './s3-part.ts'
import {
  beginUpload,
  dropUpload,
  dropUploadsOf,
  isNoSuchUpload,
  joinParts,
  type UnfinishedUpload,
  uploadPart,
} from './s3-uploads.ts'

/**
 * Writes one object: at once when it is smaller than a part, else by a multipart upload with several parts on their
 * way. Every part stays in memory until the store has it, so that it can be sent again.
 */
export function s3Writer(
  client: S3Client,
  object: string,
  memory: PartMemory,
  planPart = usualPlan,
): BlobWriter {
  const cancel = new AbortController()
  const sending = new Set<Promise<void>>()
  const etags: string[] = []
  let upload: Promise<UnfinishedUpload> | null = null
  let filling: Part | null = null
  let sent = 0
  let total = 0
  /** Bytes of parts in memory, and how many of them count against what all uploads share. */
  let held = 0
  let shared = 0
  let mayExist = false
  let failure: { readonly error: unknown } | null = null

  function fail(error: unknown): void {
    failure ??= { error }
    cancel.abort(error)
  }

  function assertGoing(): void {
    if (failure !== null) throw failure.error
  }

  /** Waits for memory. One part is always granted; others only while all uploads together are within bounds. */
  async function nextPart(): Promise<Part> {
    const number = sent + 1
    if (number > MOST_PARTS)
      throw new S3Failure(400, 'EntityTooLarge', 'the blob needs more parts than S3 takes')
    const plan = planPart(number)
    while (sending.size > 0 && (sending.size >= plan.held || !memory.take(plan.size))) {
      await Promise.race(sending)
      assertGoing()
    }
    if (sending.size > 0) shared += plan.size
    held += plan.size
    return newPart(plan.size)
  }

  function release(part: Part): void {
    part.free()
    held -= part.size
    // What is left of an upload's memory is first of all the one part that it may always have.
    const due = Math.min(shared, Math.max(0, held - part.size))
    memory.give(shared - due)
    shared = due
  }

  function send(part: Part): void {
    const number = ++sent
    upload ??= beginUpload(client, object, cancel.signal).then((id) => ({ object, id }))
    const begun = upload
    const work = (async () => {
      etags[number - 1] = await uploadPart(client, await begun, number, part.seal(), cancel.signal)
    })()
    const settled = work.catch(fail).finally(() => {
      sending.delete(settled)
      release(part)
    })
    sending.add(settled)
  }

  async function finish(begun: Promise<UnfinishedUpload>): Promise<void> {
    await Promise.all(sending)
    assertGoing()
    mayExist = true
    try {
      await joinParts(client, await begun, etags, cancel.signal)
    } catch (error) {
      // Joined already, by a try whose answer was lost: the object itself tells.
      if (!isNoSuchUpload(error)) throw error
    }
    const size = await objectSize(client, object)
    if (size !== total) {
      throw new S3Failure(200, '', `the object has ${size} bytes in the store, ${total} were sent`)
    }
  }

  return {
    write(chunk) {
      return failing(async () => {
        assertGoing()
        for (let at = 0; at < chunk.byteLength; ) {
          filling ??= await nextPart()
          const taken = filling.take(chunk.subarray(at))
          at += taken
          total += taken
          if (!filling.isFull) continue
          send(filling)
          filling = null
        }
      })
    },

    complete() {
      return failing(async () => {
        assertGoing()
        const last = filling
        filling = null
        if (upload !== null) {
          if (last !== null) send(last)
          await finish(upload)
          return
        }
        const part = last ?? newPart(0)
        mayExist = true
        try {
          await putObject(client, object, part.seal(), { signal: cancel.signal, patience: patient })
        } finally {
          if (last !== null) release(last)
        }
      })
    },

    abort() {
      return failing(async () => {
        fail(new Error('the upload was aborted'))
        await Promise.all(sending)
        if (filling !== null) release(filling)
        filling = null
        if (upload !== null) {
          const begun = await upload.catch(() => null)
          // Without its id the upload may be there all the same: the answer that named it may have been lost.
          if (begun === null) await dropUploadsOf(client, object)
          else await dropUpload(client, begun)
        }
        if (mayExist) await deleteObject(client, object)
      })
    },
  }
}
