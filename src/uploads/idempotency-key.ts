import type { Caller } from '../core/callers.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName } from '../domain/file-name.ts'
import type { FolderPlace } from '../domain/ids.ts'
import type { StoredFile } from './commit.ts'
import type { EarlierRequest } from './idempotency.ts'
import type { BodyReader, PartSink } from './multipart.ts'
import type { UploadFormat } from './upload-format.ts'

/** Guests may share an address with others. */
const LONGEST_KEY = 255
const SHORTEST_GUEST_KEY = 16

/** Throws Refusal INVALID_REQUEST for a key that is too short or too long. */
export function checkedKey(key: string | null, caller: Caller): string | null {
  if (key === null) return null
  const shortest = caller.kind === 'guest' ? SHORTEST_GUEST_KEY : 1
  if (key.length >= shortest && key.length <= LONGEST_KEY) return key
  throw new Refusal('INVALID_REQUEST', `An Idempotency-Key has ${shortest} to ${LONGEST_KEY} characters`)
}

/** Reads the body only to count it, where either declared no length. Throws Refusal IDEMPOTENCY_MISMATCH. */
export async function repeatedFile(
  body: BodyReader,
  place: FolderPlace,
  format: UploadFormat,
  { file, request }: EarlierRequest,
): Promise<StoredFile> {
  if (request.place !== place) throw mismatch('folder')
  let length = 0
  try {
    await format.read(body, async (announced) => {
      if (cleanFileName(announced.name) !== request.name) throw mismatch('name')
      if (announced.length === null || request.length === null)
        return counting(file.size, (bytes) => (length += bytes))
      if (announced.length !== request.length) throw mismatch('length')
      throw new Recognized()
    })
  } catch (error) {
    if (error instanceof Recognized) return file
    throw error
  }
  if (length !== file.size) throw mismatch('length')
  return file
}

class Recognized extends Error {}

function counting(most: number, count: (bytes: number) => number): PartSink {
  return {
    write(chunk) {
      if (count(chunk.byteLength) > most) throw mismatch('length')
    },
    end() {},
  }
}

function mismatch(what: 'folder' | 'name' | 'length'): Refusal {
  return new Refusal(
    'IDEMPOTENCY_MISMATCH',
    `This Idempotency-Key was used for an upload with another ${what}; use a new key for each upload`,
  )
}
