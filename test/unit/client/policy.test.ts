/** The policy of all clients: what is tried again, when, and with how much in one request. */
import { describe, expect, test } from 'bun:test'
import {
  afterArrival,
  afterBegin,
  afterRefusal,
  backoff,
  type ChunkState,
  FIRST_CHUNK,
  isStuck,
  LARGEST_CHUNK,
  mayPass,
  NOT_STUCK,
  refusesBody,
  requestedPause,
  SMALLEST_CHUNK,
} from '../../../src/client/policy/upload-policy.ts'

const MIB = 1024 ** 2
const answer = (status: number, code: string | null = null, retryAfter: number | null = null) => ({
  status,
  code,
  retryAfter,
})

describe('what may pass', () => {
  test.each([408, 423, 425, 429, 500, 502, 503, 504])('is an answer %i, whoever sends it', (status) => {
    for (const code of [null, 'CODE']) {
      for (const isKnown of [true, false]) expect(mayPass(answer(status, code), isKnown)).toBe(true)
    }
  })

  test('is what names a time to come again, and a body that was too slow', () => {
    expect(mayPass(answer(409, 'REQUEST_UNDER_WAY', 5), false)).toBe(true)
    expect(mayPass(answer(400, 'REQUEST_TIMEOUT'), false)).toBe(true)
  })

  test('is never a refusal of the server’s own', () => {
    for (const [status, code] of [
      [400, 'INVALID_NAME'],
      [401, 'INVALID_API_KEY'],
      [403, 'GUEST_UPLOADS_DISABLED'],
      [404, 'FOLDER_NOT_FOUND'],
      [413, 'STORAGE_LIMIT_EXCEEDED'],
    ] as const) {
      for (const isKnown of [true, false]) expect(mayPass(answer(status, code), isKnown)).toBe(false)
    }
  })

  test('is a stranger’s answer where the server was there before, unless it refuses', () => {
    for (const status of [200, 302, 404, 409, 410, 421, 501, 520, 524]) {
      expect([status, mayPass(answer(status), true)]).toEqual([status, true])
      expect([status, mayPass(answer(status), false)]).toEqual([status, false])
    }
    for (const status of [400, 401, 403, 411, 414]) expect(mayPass(answer(status), true)).toBe(false)
  })

  test('is a conflict of offsets, to a client that asks for the offset before it goes on', () => {
    expect(mayPass(answer(409, 'OFFSET_CONFLICT'), true)).toBe(true)
    expect(mayPass(answer(409, 'DUPLICATE_NAME'), false)).toBe(false)
  })
})

test('a 413 is a proxy’s only without a code', () => {
  expect(refusesBody(answer(413))).toBe(true)
  expect(refusesBody(answer(413, 'FILE_TOO_LARGE'))).toBe(false)
  expect(refusesBody(answer(400))).toBe(false)
})

test('pauses double from half a second to half a minute, by chance between half of that and all of it', () => {
  expect([0, 1, 2, 5, 6, 7, 100].map((failures) => backoff(failures, 1))).toEqual([
    500, 1000, 2000, 16_000, 30_000, 30_000, 30_000,
  ])
  expect([backoff(1, 0), backoff(1, 0.5)]).toEqual([500, 750])
  expect([requestedPause(7, 0), requestedPause(7, 1)]).toEqual([7000, 8000])
})

describe('the size of a chunk', () => {
  const first: ChunkState = { bytes: FIRST_CHUNK, largest: LARGEST_CHUNK }

  test('grows to what two seconds carry, and never beyond the largest', () => {
    expect(afterArrival(first, FIRST_CHUNK, 500).bytes).toBe(4 * FIRST_CHUNK)
    expect(afterArrival(first, FIRST_CHUNK, 0).bytes).toBe(LARGEST_CHUNK)
    expect(afterArrival(first, FIRST_CHUNK, 2000)).toBe(first)
    expect(afterArrival(first, MIB, 1)).toBe(first)
  })

  test('is halved by a refusal, for good, down to the smallest', () => {
    const refused = afterRefusal(first, 40 * MIB)
    expect(refused).toEqual({ bytes: 20 * MIB, largest: 20 * MIB })
    expect(afterRefusal(first, SMALLEST_CHUNK + 1)).toEqual({
      bytes: SMALLEST_CHUNK,
      largest: SMALLEST_CHUNK,
    })
    expect(afterRefusal(first, SMALLEST_CHUNK)).toBeNull()
  })

  test('is not made larger by the refusal of a body that was sent before it was halved', () => {
    const small: ChunkState = { bytes: MIB, largest: MIB }
    expect(afterRefusal(small, 64 * MIB)).toBe(small)
  })

  test('is taken for the reason when four requests in a row begin at the same offset', () => {
    let stuckState = NOT_STUCK
    const begun = [0, 5, 5, 5, 5].map((offset) => {
      stuckState = afterBegin(stuckState, offset)
      return isStuck(stuckState)
    })
    expect(begun).toEqual([false, false, false, false, true])
  })
})
