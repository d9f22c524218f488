import { expect, test } from 'bun:test'
import { memoryFor, whyTooLarge } from '../../../src/thumbnails/images.ts'

const MB = 1024 ** 2

test('thumbnails may take an eighth of the memory, as much as a photo needs, and a gigabyte at most', () => {
  const machines = [0.5, 1, 2, 3, 4, 8, 64].map((gigabytes) => memoryFor(gigabytes * 1024 * MB) / MB)
  expect(machines).toEqual([256, 256, 256, 384, 512, 1024, 1024])
})

test('a picture is judged by its size and by what its format must hold of it', () => {
  const head = { channels: 3, depth: 'uchar', width: 12_000, height: 9000 } as const
  const rest = { density: 72, isPalette: false, hasProfile: false, hasAlpha: false, space: 'srgb' } as const
  const shared = {
    ...head,
    ...rest,
    autoOrient: { width: 12_000, height: 9000 },
  } as const
  const isMade = (kind: object, memory: number) =>
    whyTooLarge({ ...shared, format: 'jpeg', isProgressive: false, ...kind }, 20 * MB, memory * MB) === null
  // The smallest machine makes thumbnails of a photo of 108 million pixels.
  expect(isMade({}, memoryFor(0) / MB)).toBe(true)
  expect(isMade({ isProgressive: true, chromaSubsampling: '4:2:0' }, 256)).toBe(false)
  expect(isMade({ isProgressive: true, chromaSubsampling: '4:2:0' }, 512)).toBe(true)
  expect(isMade({ isProgressive: true, chromaSubsampling: '4:4:4' }, 512)).toBe(false)
  expect(isMade({ format: 'png' }, 256)).toBe(true)
  expect(isMade({ format: 'png', isProgressive: true, depth: 'ushort' }, 512)).toBe(false)
  expect(isMade({ format: 'heif' }, 1024)).toBe(false)
  expect(isMade({ width: 30_000, height: 20_000 }, 1024)).toBe(false)
})
