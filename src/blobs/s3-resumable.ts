import type { BlobKey } from '../domain/ids.ts'
import type { Random } from '../domain/random.ts'
import { assertAllKept } from './all-kept.ts'
import { BlobMissing, type KeptBlob, type ResumableWriter } from './blob-store.ts'
import { completedBlob } from './completed-blob.ts'
import type { PartMemory } from './part-memory.ts'
import { s3Bytes } from './s3-body.ts'
import type { S3Client } from './s3-client.ts'
import { failing } from './s3-failure.ts'
import { deleteObject, isNoSuchKey, objectOf, objectSize, patient, putObject } from './s3-objects.ts'
import { newPart, type Part, type PlanPart, usualPlan } from './s3-part.ts'
import { partsOf, sizeOf, type Written } from './s3-parts.ts'
import { parseProgress, printOf, progressText, type S3Progress } from './s3-progress.ts'
import { dropTails, tailOf } from './s3-tails.ts'
import { dropUploadsOf, isInvalidPart, isNoSuchUpload, type StoredPart, storedParts } from './s3-uploads.ts'

export interface S3Sittings {
  readonly client: S3Client
  readonly memory: PartMemory
  readonly random: Random
  readonly planPart?: PlanPart
}

/**
 * A sitting at one multipart upload, which all sittings share. What is too little for a part is kept as an object of
 * its own, its tail, under a new name each time: what was recorded is never written over.
 */
export function resumeOnS3(
  sittings: S3Sittings,
  key: BlobKey,
  kept: KeptBlob | null,
): Promise<ResumableWriter> {
  const { client } = sittings
  return failing(async () => {
    if (kept === null) return sitting(sittings, key, null)
    const progress = progressOf(key, kept)
    try {
      const written = await writtenBefore(sittings, key, kept.offset, progress)
      return sitting(sittings, key, { kept, progress, written })
    } catch (error) {
      if (!isNoSuchUpload(error) && !isNoSuchKey(error)) throw error
      // Gone because the blob was completed, perhaps: the object itself tells.
      const size = await objectSize(client, objectOf(key))
      if (size !== kept.offset) throw new BlobMissing(key, { cause: error })
      return completedBlob(kept, () => failing(() => dropLeftovers(client, key)))
    }
  })
}

interface Before {
  readonly kept: KeptBlob
  readonly progress: S3Progress
  readonly written: Written
}

function sitting(
  { client, memory, random, planPart = usualPlan }: S3Sittings,
  key: BlobKey,
  before: Before | null,
): ResumableWriter {
  const parts = partsOf(client, objectOf(key), memory, planPart, before?.written)
  let kept = before?.kept ?? null
  /** The tails of what was kept last and of what was kept before that, which is given up when the last is recorded. */
  let tail = before?.progress.tail ?? null
  let tailBefore = before?.progress.tailBefore ?? null
  const unwanted: string[] = []

  /** What was kept last is recorded now. */
  function giveUpTailBefore(): void {
    if (tailBefore !== null) unwanted.push(tailBefore)
    tailBefore = null
  }

  /** What cannot be removed now is removed with the blob, or when it is complete. */
  async function dropUnwanted(): Promise<void> {
    const drop = (name: string) => deleteObject(client, tailOf(key, name)).catch(() => {})
    await Promise.all(unwanted.splice(0).map(drop))
  }

  async function putTail(part: Part): Promise<string> {
    const name = Buffer.from(random(8)).toString('hex')
    const options = { signal: parts.signal, patience: patient }
    await putObject(client, tailOf(key, name), part.seal(), options)
    return name
  }

  function keeping({ upload, parts: stored }: Written, name: string | null, last: Part | null): KeptBlob {
    tailBefore = tail
    tail = name
    const progress = progressText({
      upload: upload?.id ?? null,
      parts: stored.length,
      tail,
      tailBefore,
      print: printOf(stored, last?.seal().md5 ?? null),
    })
    kept = { offset: sizeOf(stored) + (last?.filled ?? 0), progress }
    return kept
  }

  return {
    write: (chunk) => failing(() => parts.write(chunk)),

    keep() {
      return failing(async () => {
        parts.signal.throwIfAborted()
        giveUpTailBefore()
        if (kept?.offset === parts.total) return kept
        await parts.settle()
        const written = parts.written()
        const [name] = await Promise.all([
          written.tail === null ? null : putTail(written.tail),
          dropUnwanted(),
        ])
        return keeping(written, name, written.tail)
      })
    },

    safe() {
      const written = parts.written()
      if (sizeOf(written.parts) <= (kept?.offset ?? 0)) return null
      giveUpTailBefore()
      return keeping(written, null, null)
    },

    complete() {
      return failing(async () => {
        assertAllKept(kept, parts.total)
        try {
          await parts.finish()
        } catch (error) {
          // A killed sitting has written over a part, or beyond the end, which not every store overlooks.
          throw isInvalidPart(error) ? new BlobMissing(key, { cause: error }) : error
        }
        if (kept !== null) await dropLeftovers(client, key)
        return parts.total
      })
    },

    close: () => parts.halt(new Error('the sitting was closed')),
  }
}

/** What the store has of what was kept. Throws S3Failure, also `NoSuchUpload` and `NoSuchKey`. */
async function writtenBefore(
  { client, planPart = usualPlan }: S3Sittings,
  key: BlobKey,
  offset: number,
  progress: S3Progress,
): Promise<Written> {
  const upload = progress.upload === null ? null : { object: objectOf(key), id: progress.upload }
  const parts: StoredPart[] = []
  if (upload !== null) {
    for await (const part of storedParts(client, upload)) if (parts.push(part) === progress.parts) break
  }
  const left = offset - sizeOf(parts)
  const { size } = planPart(parts.length + 1)
  if (parts.length === progress.parts && left >= 0 && left < size) {
    const tail =
      progress.tail === null ? null : await readTail(client, tailOf(key, progress.tail), left, size)
    const print = printOf(parts, tail?.seal().md5 ?? null)
    if (print === progress.print) return { upload, parts, tail }
  }
  const cause = new Error(`the store has other parts than the ${progress.parts} that were kept`)
  throw new BlobMissing(key, { cause })
}

function readTail(client: S3Client, object: string, length: number, size: number): Promise<Part> {
  return client.open({ method: 'GET', object }, async (answer) => {
    const part = newPart(size)
    part.take(await s3Bytes(answer, length, client.timeouts.stall))
    return part
  })
}

function progressOf(key: BlobKey, { progress }: KeptBlob): S3Progress {
  try {
    return parseProgress(progress)
  } catch (error) {
    throw new BlobMissing(key, { cause: error })
  }
}

/** What a blob that is whole has no more use for, that of killed sittings included. */
async function dropLeftovers(client: S3Client, key: BlobKey): Promise<void> {
  await Promise.all([dropUploadsOf(client, objectOf(key)), dropTails(client, key)])
}
