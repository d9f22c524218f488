import { ownMemory, type PartMemory } from './part-memory.ts'
import type { S3Client } from './s3-client.ts'
import { S3Failure } from './s3-failure.ts'
import { objectSize, patient, putObject } from './s3-objects.ts'
import { MOST_PARTS, newPart, type Part, type PlanPart, usualPlan } from './s3-part.ts'
import {
  beginUpload,
  isNoSuchUpload,
  joinParts,
  type StoredPart,
  type UnfinishedUpload,
  uploadPart,
} from './s3-uploads.ts'

/** Where a writer of an object stopped. */
export interface Written {
  /** Null as long as there is no part. */
  readonly upload: UnfinishedUpload | null
  /** What the store has: from the first part on, without a gap. */
  readonly parts: readonly StoredPart[]
  /** The bytes after the parts, fewer than the next part takes; null when there are none. */
  readonly tail: Part | null
}

const nothing: Written = { upload: null, parts: [], tail: null }

export function sizeOf(parts: readonly StoredPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0)
}

/**
 * One object on its way to the store: at once when it is smaller than a part, else by a multipart upload with several
 * parts on their way. Every part stays in memory until the store has it, so that it can be sent again. Throws S3Failure.
 */
export interface ObjectParts {
  /** Bytes taken so far, those of an earlier writer included. */
  readonly total: number
  /** The multipart upload, as soon as there is a part; rejects when the store did not begin one. */
  readonly upload: Promise<UnfinishedUpload> | null
  /** Aborted by `halt`, and by the first part that fails. */
  readonly signal: AbortSignal
  /** As that of a blob's writer. */
  write(chunk: Uint8Array): Promise<void>
  /** Returns once the store has every part that is full. */
  settle(): Promise<void>
  /** What the store has by now, and what is not a part yet; the tail is good until more is written. */
  written(): Written
  /** Returns once the object is whole, of the size of all that was taken. */
  finish(): Promise<void>
  /** Stops what is under way, which fails with the reason, and lets go of all memory. Never throws. */
  halt(reason: Error): Promise<void>
}

/** `before` is where an earlier writer stopped; its tail is taken over. */
export function partsOf(
  client: S3Client,
  object: string,
  memory: PartMemory,
  planPart: PlanPart = usualPlan,
  before: Written = nothing,
): ObjectParts {
  const cancel = new AbortController()
  const sending = new Set<Promise<void>>()
  const own = ownMemory(memory)
  /** By number, as far as the store has them: they do not arrive in their order. */
  const stored = new Map(before.parts.map((part, at) => [at + 1, part]))
  let begun = before.upload
  let upload = begun === null ? null : Promise.resolve(begun)
  let filling = before.tail
  let sent = stored.size
  let total = sizeOf(before.parts) + (filling?.filled ?? 0)
  let failure: { readonly error: unknown } | null = null
  /** Settled when all that was to be written so far is; never rejects. */
  let turn = Promise.resolve()
  if (filling !== null) own.take(filling.size, true)

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
    while (sending.size >= plan.held || !own.take(plan.size, sending.size === 0)) {
      await Promise.race(sending)
      assertGoing()
    }
    return newPart(plan.size)
  }

  function release(part: Part): void {
    part.free()
    own.give(part.size)
  }

  async function begin(): Promise<UnfinishedUpload> {
    begun = { object, id: await beginUpload(client, object, cancel.signal) }
    return begun
  }

  function send(part: Part): void {
    const number = ++sent
    upload ??= begin()
    const beginning = upload
    const work = (async () => {
      const etag = await uploadPart(client, await beginning, number, part.seal(), cancel.signal)
      stored.set(number, { etag, size: part.filled })
    })()
    const settled = work.catch(fail).finally(() => {
      sending.delete(settled)
      release(part)
    })
    sending.add(settled)
  }

  async function take(chunk: Uint8Array): Promise<void> {
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
  }

  async function settle(): Promise<void> {
    await Promise.all(sending)
    assertGoing()
  }

  async function join(beginning: Promise<UnfinishedUpload>): Promise<void> {
    await settle()
    const etags = leading(stored).map(({ etag }) => etag)
    try {
      await joinParts(client, await beginning, etags, cancel.signal)
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
    get total() {
      return total
    },

    get upload() {
      return upload
    },

    signal: cancel.signal,

    write(chunk) {
      const work = turn.then(() => take(chunk))
      turn = work.catch(() => {})
      return work
    },

    settle,

    written: () => ({ upload: begun, parts: leading(stored), tail: filling }),

    async finish() {
      assertGoing()
      const last = filling
      filling = null
      if (upload !== null) {
        if (last !== null) send(last)
        await join(upload)
        return
      }
      const part = last ?? newPart(0)
      try {
        await putObject(client, object, part.seal(), { signal: cancel.signal, patience: patient })
      } finally {
        if (last !== null) release(last)
      }
    },

    async halt(reason) {
      fail(reason)
      await Promise.all(sending)
      if (filling !== null) release(filling)
      filling = null
    },
  }
}

/** Those from the first on without a gap. */
function leading(stored: ReadonlyMap<number, StoredPart>): StoredPart[] {
  const parts: StoredPart[] = []
  for (let number = 1; ; number++) {
    const part = stored.get(number)
    if (part === undefined) return parts
    parts.push(part)
  }
}
