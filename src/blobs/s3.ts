import type { BlobKey } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { assertSize, BlobMissing, type BlobStore } from './blob-store.ts'
import { partMemory } from './part-memory.ts'
import { type Pacing, type Patience, systemPacing } from './retries.ts'
import { s3Body, s3Bytes, s3Fill } from './s3-body.ts'
import { assertBucket } from './s3-bucket.ts'
import {
  type S3Settings,
  type S3Stream,
  type S3Timeouts,
  type S3Watch,
  s3Client,
  usualTimeouts,
} from './s3-client.ts'
import { failing, S3Failure } from './s3-failure.ts'
import {
  BLOBS,
  deleteObject,
  isNoSuchKey,
  keyOf,
  objectOf,
  objectSize,
  objectsUnder,
  putObject,
} from './s3-objects.ts'
import { newPart, type SealedPart } from './s3-part.ts'
import { resumeOnS3 } from './s3-resumable.ts'
import { dropTails, keyOfTail, TAILS } from './s3-tails.ts'
import { dropUploadsOf, unfinishedUploads } from './s3-uploads.ts'
import { s3Writer } from './s3-writer.ts'

const MARK = 'mark'

/** Bytes that the parts of all uploads may take beyond one part for each upload. */
const SHARED_MEMORY = 192 * 1024 * 1024

/** Less than this is read at once: it takes less time, and a connection that breaks in the middle is made good. */
const LARGEST_WHOLE_READ = 512 * 1024

/** Whoever asks how the store is wants to know soon. */
const PROBE_PATIENCE: Patience = { tries: 2, giveUpAfter: 1000 }
const PROBE_ANSWER = 5000

export interface S3Options {
  readonly watch?: S3Watch
  /** For tests, which do not want to wait. */
  readonly pacing?: Pacing
  readonly timeouts?: S3Timeouts
}

/**
 * Blobs as objects of an S3-compatible store: `blobs/<first two characters>/<key>`, and beside them the tails of those
 * that are not complete: `tails/<first two characters>/<key>/<name>`. The mark is the object `mark`.
 * The bucket is made when it is missing. Throws Error, with what to do about it, when the store cannot be used.
 */
export async function openS3Blobs(
  settings: S3Settings,
  random: Random,
  { pacing = systemPacing(random), timeouts = usualTimeouts, watch }: S3Options = {},
): Promise<BlobStore> {
  const client = s3Client(settings, pacing, timeouts, watch)
  const memory = partMemory(SHARED_MEMORY)
  const probing = { patience: PROBE_PATIENCE, answerWithin: Math.min(PROBE_ANSWER, timeouts.answer) }
  await assertBucket(client, settings)

  /** Asks for the bytes `start` to `end` (exclusive), of which there is at least one. `size`: of the whole blob. */
  function openRange<T>(
    { key, start, end, size }: { key: BlobKey; start: number; end: number; size: number | undefined },
    take: (answer: S3Stream) => Promise<T>,
  ): Promise<T> {
    const headers = { Range: `bytes=${start}-${end - 1}` }
    return failing(async () => {
      try {
        return await client.open({ method: 'GET', object: objectOf(key), headers }, (answer) => {
          const stored = wholeSize(answer.status, answer.headers)
          if (size !== undefined && stored !== null) assertSize(key, stored, size)
          assertRange(answer.status, answer.headers, start, end)
          return take(answer)
        })
      } catch (error) {
        if (isNoSuchKey(error)) throw new BlobMissing(key, { cause: error })
        // An object that ends before the range does tells its size only to those who ask for that.
        if (size !== undefined && error instanceof S3Failure && error.status === 416)
          await assertStored(key, size)
        throw error
      }
    })
  }

  /** Throws BlobMissing, BlobDamaged or S3Failure. */
  async function assertStored(key: BlobKey, size: number | undefined): Promise<void> {
    const stored = await objectSize(client, objectOf(key))
    if (stored === null) throw new BlobMissing(key)
    if (size !== undefined) assertSize(key, stored, size)
  }

  const store: BlobStore = {
    async create(key) {
      return s3Writer(client, objectOf(key), memory)
    },

    resume: (key, kept) => resumeOnS3({ client, memory, random }, key, kept),

    async read(key, start, end, size) {
      const length = end - start
      if (length <= 0) {
        await failing(() => assertStored(key, size))
        return new Blob([])
      }
      return openRange({ key, start, end, size }, async (answer) =>
        length > LARGEST_WHOLE_READ
          ? s3Body(answer, length, timeouts.stall)
          : new Blob([await s3Bytes(answer, length, timeouts.stall)]),
      )
    },

    async readInto(key, start, target, size) {
      const end = start + target.length
      if (end === start) return failing(() => assertStored(key, size))
      await openRange({ key, start, end, size }, (answer) => s3Fill(answer, target, timeouts.stall))
    },

    size: (key) => failing(() => objectSize(client, objectOf(key))),

    remove: (key) =>
      failing(async () => {
        await Promise.all([
          dropUploadsOf(client, objectOf(key)),
          dropTails(client, key),
          deleteObject(client, objectOf(key)),
        ])
      }),

    async *list() {
      // Unfinished ones first: one that is finished meanwhile is then named twice rather than not at all.
      const sources = [
        [unfinishedUploads(client, BLOBS), keyOf],
        [objectsUnder(client, TAILS), keyOfTail],
        [objectsUnder(client, BLOBS), keyOf],
      ] as const
      for (const [objects, keyOfObject] of sources) {
        const names = objects[Symbol.asyncIterator]()
        for (;;) {
          const { done, value } = await failing(() => names.next())
          if (done) break
          const key = keyOfObject(value.object)
          if (key !== null) yield key
        }
      }
    },

    async freeSpace() {
      return null
    },

    async probe() {
      const key = makeBlobKey(random)
      const object = objectOf(key)
      const content = sealed(random(512))
      await failing(async () => {
        await putObject(client, object, content, probing)
        const back = await client.open({ method: 'GET', object, ...probing }, (answer) =>
          s3Bytes(answer, content.bytes.byteLength, probing.answerWithin),
        )
        if (!Buffer.from(back).equals(content.bytes)) {
          throw new S3Failure(200, '', 'the probe came back changed')
        }
        await client.send({ method: 'DELETE', object, ...probing })
      })
    },

    readMark: () =>
      failing(async () => {
        try {
          return (await client.send({ method: 'GET', object: MARK })).text
        } catch (error) {
          if (isNoSuchKey(error)) return null
          throw error
        }
      }),

    writeMark: (mark) => failing(() => putObject(client, MARK, sealed(new TextEncoder().encode(mark)))),

    link(key, { seconds, type, disposition }) {
      return client.presign(
        objectOf(key),
        {
          'response-content-type': type,
          'response-content-disposition': disposition,
          'response-cache-control': 'private',
        },
        seconds,
      )
    },
  }

  return store
}

/** Of the object that an answer brings bytes of; null when it does not say. */
function wholeSize(status: number, headers: Headers): number | null {
  const [, text] = /^bytes [^/]*\/(\d+)$/.exec(headers.get('Content-Range') ?? '') ?? []
  if (text !== undefined) return Number(text)
  const length = headers.get('Content-Length')
  return status === 200 && length !== null ? Number(length) : null
}

/** A store that pays no heed to ranges must not pass for one that sent the bytes that were asked for. */
function assertRange(status: number, headers: Headers, start: number, end: number): void {
  const range = headers.get('Content-Range') ?? ''
  const isAll = status === 200 && start === 0 && headers.get('Content-Length') === String(end)
  if (isAll || (status === 206 && range.startsWith(`bytes ${start}-${end - 1}/`))) return
  throw new S3Failure(
    status,
    '',
    `bytes ${start} to ${end - 1} were asked for, ${range === '' ? 'no range' : range} came`,
  )
}

function sealed(bytes: Uint8Array): SealedPart {
  const part = newPart(bytes.byteLength)
  part.take(bytes)
  return part.seal()
}
