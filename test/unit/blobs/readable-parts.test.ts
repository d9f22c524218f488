/** A blob in S3 that is read while it is written, with a kill at every request, on a store in memory with parts of ten bytes. */
import { expect, test } from 'bun:test'
import { BlobMissing, type KeptBlob, type ResumableWriter } from '../../../src/blobs/blob-store.ts'
import { S3Failure } from '../../../src/blobs/s3-failure.ts'
import { objectOf } from '../../../src/blobs/s3-objects.ts'
import { removeBlob } from '../../../src/blobs/s3-removal.ts'
import { GrowingObject, resumeOnS3 } from '../../../src/blobs/s3-resumable.ts'
import { partMemory, planFor } from '../../../src/blobs/s3-uploads.ts'
import { makeBlobKey, systemRandom } from '../../../src/domain/random.ts'
import { chance } from '../../support/chance.ts'
import { MemoryS3 } from '../../support/storage/memory-s3.ts'

const PART = 10
const bytes = Buffer.from(chance(120).bytes(7 * PART + 3))
/** Where what was written is kept and recorded. */
const BORDERS = [4, 2 * PART, 2 * PART + 6, 3 * PART + 1, 6 * PART, 7 * PART, bytes.length]

interface Kill {
  /** Number of the request, from 1. */
  readonly at: number
  /** Whether the store does what it is asked for, and only its answer is lost. */
  readonly isDone: boolean
}

/** An upload that goes on after a kill. Its bytes are asked for once that many were recorded. */
class Upload {
  readonly client = new MemoryS3()
  readonly key = makeBlobKey(systemRandom)
  readonly #reader = new GrowingObject(this.client, this.key)
  readonly #content: Buffer
  readonly #shownFrom: number
  readonly #kill: Kill
  #recorded: KeptBlob | null = null
  #requests = 0
  #isDead = false

  constructor(content: Buffer, shownFrom: number, kill: Kill) {
    this.#content = content
    this.#shownFrom = shownFrom
    this.#kill = kill
    const die = (isDone: boolean) => {
      if (this.#requests === kill.at && kill.isDone === isDone) this.#isDead = true
      if (this.#isDead) throw new S3Failure(null, '', 'killed')
    }
    this.client.before = () => {
      if (!this.#isDead) this.#requests += 1
      die(false)
    }
    this.client.after = () => die(true)
  }

  /** Whether the kill came before the end. */
  async run(): Promise<boolean> {
    while (!(await this.#session())) this.#isDead = false
    expect(this.client.objects.get(objectOf(this.key))).toEqual(this.#content)
    return this.#requests >= this.#kill.at
  }

  async #session(): Promise<boolean> {
    let session: ResumableWriter | null = null
    try {
      if (this.#recorded === null) await removeBlob(this.client, this.key)
      const parts = { client: this.client, memory: partMemory(1000), random: systemRandom }
      const plan = { size: PART, held: 3 }
      session = await resumeOnS3({ ...parts, planPart: () => plan }, this.key, this.#recorded)
      await this.#write(session)
      return true
    } catch (error) {
      if (!this.#isDead) throw error
      return false
    } finally {
      await session?.close()
    }
  }

  async #write(session: ResumableWriter): Promise<void> {
    let offset = this.#recorded?.offset ?? 0
    let isReadable = false
    const show = async () => {
      if (offset < this.#shownFrom) return
      if (!isReadable) await session.makeReadable()
      isReadable = true
      if (this.#recorded !== null) await this.#readAll(this.#recorded)
    }
    await show()
    for (const border of BORDERS.filter((border) => border > offset && border <= this.#content.length)) {
      await session.write(this.#content.subarray(offset, border))
      this.#recorded = await session.keep()
      offset = border
      await show()
    }
    await session.complete()
  }

  /** All that is recorded, by somebody who has read before, and somebody who has not. */
  async #readAll(kept: KeptBlob): Promise<void> {
    for (const reader of [this.#reader, new GrowingObject(this.client, this.key)]) {
      const read = Buffer.alloc(kept.offset)
      for (let at = 0; at < read.length; ) {
        const end = await reader.readableFrom(at, kept)
        if (end <= at) throw new Error(`${at} of ${kept.offset} cannot be read`)
        await reader.readInto(at, read.subarray(at, end))
        at = end
      }
      if (!read.equals(this.#content.subarray(0, kept.offset)))
        throw new Error(`other bytes before ${kept.offset}`)
    }
  }
}

test.each([
  [0, bytes.length],
  [2 * PART, bytes.length],
  [2 * PART + 6, bytes.length],
  [7 * PART, 7 * PART],
])(
  'after %d of %d bytes all that is recorded can be read, and a kill at any request leaves nothing behind',
  async (shownFrom, size) => {
    const content = bytes.subarray(0, size)
    for (const isDone of [false, true]) {
      for (let at = 1; ; at++) {
        const upload = new Upload(content, shownFrom, { at, isDone })
        const isKilled = await upload.run()
        const { objects, uploads } = upload.client
        expect({ at, isDone, left: [...objects.keys()], uploads: uploads.size }).toEqual({
          at,
          isDone,
          left: [objectOf(upload.key)],
          uploads: 0,
        })
        if (!isKilled) break
      }
    }
  },
)

test('a tail that is replaced while somebody reads it is missed, and its bytes are found elsewhere', async () => {
  const client = new MemoryS3()
  const key = makeBlobKey(systemRandom)
  const session = await resumeOnS3(
    { client, memory: partMemory(1000), random: systemRandom, planPart: planFor(0) },
    key,
    null,
  )
  const keep = async (from: number, to: number) => {
    await session.write(bytes.subarray(from, to))
    return session.keep()
  }
  const reader = new GrowingObject(client, key)
  expect(await reader.readableFrom(1, await keep(0, 4))).toBe(4)
  await keep(4, 5)
  await keep(5, 6)
  const last = await keep(6, 9)
  const read = Buffer.alloc(3)
  await expect(reader.readInto(1, read)).rejects.toBeInstanceOf(BlobMissing)
  expect(await reader.readableFrom(1, last)).toBe(9)
  await reader.readInto(1, read)
  expect(read).toEqual(bytes.subarray(1, 4))
  await session.close()
})
