import { expect, test } from 'bun:test'
import { createChunkSize } from '../../../src/client/chunk-size.ts'

const MIB = 1024 * 1024

function grown(...milliseconds: number[]): number[] {
  const size = createChunkSize(null, () => {})
  return milliseconds.map((taken) => {
    size.arrived(size.current(), taken)
    return size.current() / MIB
  })
}

test('a chunk that took under two seconds is followed by as much as two seconds carry, up to 1 GiB', () => {
  expect(grown(1000, 500, 1600, 1250, 0, 1)).toEqual([128, 512, 640, 1024, 1024, 1024])
})

test('on a slow line it stays as it is', () => {
  expect(grown(2000, 60_000)).toEqual([64, 64])
})

test('the last one of a file, which is shorter, says nothing of the line', () => {
  const size = createChunkSize(null, () => {})
  size.arrived(MIB, 1)
  expect(size.current()).toBe(64 * MIB)
})

test('a size that was asked for is never exceeded', () => {
  const size = createChunkSize(16 * MIB, () => {})
  size.arrived(16 * MIB, 1)
  expect(size.current()).toBe(16 * MIB)
})

test('after a refusal it grows no more', () => {
  const said: string[] = []
  const size = createChunkSize(null, (line) => said.push(line))
  size.refused(64 * MIB)
  size.arrived(32 * MIB, 1)
  expect(size.current()).toBe(32 * MIB)
  expect(said).toHaveLength(1)
})

test('a request is soon over when the one before, which went well, was as quick', () => {
  const size = createChunkSize(null, () => {})
  expect(size.isSoonOver(1)).toBe(false)
  size.arrived(64 * MIB, 1000)
  expect([size.isSoonOver(128 * MIB), size.isSoonOver(129 * MIB)]).toEqual([true, false])
  size.failed()
  expect(size.isSoonOver(1)).toBe(false)
})
