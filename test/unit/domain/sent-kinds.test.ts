import { expect, test } from 'bun:test'
import { sentFiles } from '../../../src/domain/sent-kinds.ts'

test.each([
  [{ 'image/jpeg': 20, 'image/heic': 4 }, ['24 photo']],
  [{ 'video/mp4': 2, 'image/jpeg': 3 }, ['3 photo', '2 video']],
  [{ 'image/jpeg': 2, 'image/png': 1 }, ['3 picture']],
  [{ 'application/pdf': 1, 'application/vnd.ms-excel': 1 }, ['2 document']],
  [{ 'image/jpeg': 1, 'video/mp4': 1, 'audio/mpeg': 1 }, ['3 file']],
  [{ 'image/jpeg': 1, 'application/zip': 1 }, ['2 file']],
  [{ 'image/jpeg': 0 }, []],
  [{}, []],
])('%j are counted as %j', (types: Record<string, number | undefined>, said) => {
  const counts = Object.entries(types).map(([type, count = 0]) => [type, count] as const)
  expect(sentFiles(counts).map(({ count, kind }) => `${count} ${kind}`)).toEqual(said)
})
