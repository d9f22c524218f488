import { describe, expect, test } from 'bun:test'
import type { RecoveryPoint } from '../../../../src/contents/backup-catalog.ts'
import { retainedPoints } from '../../../../src/contents/backup-points.ts'
import { DAY, HOUR } from '../../../../src/domain/clock.ts'
import { makeBlobKey, systemRandom } from '../../../../src/domain/random.ts'

const NOW = Date.parse('2026-11-24T12:00:00Z')

const pointAt = (takenAt: number): RecoveryPoint => ({
  takenAt,
  key: makeBlobKey(systemRandom),
  size: 0,
  sha256: '',
  files: 0,
  contents: 0,
  bytes: 0,
  damaged: 0,
})

/** Two a day for a hundred days, the oldest first. */
const many = Array.from({ length: 200 }, (_, at) => pointAt(NOW - (199 - at) * 12 * HOUR))
const times = (points: readonly RecoveryPoint[]) =>
  points.map(({ takenAt }) => new Date(takenAt).toISOString())

describe('the points that are kept', () => {
  test('are all, unless it is said', () => {
    expect(retainedPoints(many, null)).toEqual(many)
  })

  test('are the newest of each day and of each week', () => {
    expect(times(retainedPoints(many, { daily: 3, weekly: 4 }))).toEqual([
      '2026-11-08T12:00:00.000Z',
      '2026-11-15T12:00:00.000Z',
      '2026-11-22T12:00:00.000Z',
      '2026-11-23T12:00:00.000Z',
      '2026-11-24T12:00:00.000Z',
    ])
  })

  test('count days and weeks that have any, however long ago', () => {
    const rare = [pointAt(NOW - 400 * DAY), pointAt(NOW - 399 * DAY), pointAt(NOW - 30 * DAY)]
    expect(retainedPoints(rare, { daily: 2, weekly: 0 })).toEqual(rare.slice(1))
    expect(retainedPoints(rare, { daily: 7, weekly: 4 })).toEqual(rare)
  })

  test('always include the newest', () => {
    expect(retainedPoints(many, { daily: 0, weekly: 0 })).toEqual(many.slice(-1))
    expect(retainedPoints([], { daily: 7, weekly: 4 })).toEqual([])
  })
})
