import { expect, test } from 'bun:test'
import { thumbnailKind } from '../../../src/domain/media-type.ts'

const kindOf = (beginning: string) => thumbnailKind(Buffer.from(beginning, 'latin1'))
const ftyp = (...brands: string[]) =>
  `\0\0\0${String.fromCharCode(12 + 4 * brands.length)}ftyp${brands[0]}\0\0\0\0`
const box = (...brands: string[]) => ftyp(...brands) + brands.slice(1).join('')

test.each([
  ['JPEG', '\xff\xd8\xff\xe0', 'image'],
  ['AVIF', box('avif', 'mif1'), 'image'],
  ['AVIF that says first that it is a picture', box('mif1', 'miaf', 'avif'), 'image'],
  ['HEIC', box('heic', 'mif1'), 'image'],
  ['HEIC that says first that it is a picture', box('mif1', 'heic'), 'image'],
  ['BigTIFF', 'II+\0', 'image'],
  ['MP4', box('isom', 'mp42'), 'mov'],
  ['QuickTime', box('qt  '), 'mov'],
  ['QuickTime without a brand', '\0\0\0\x08wide', 'mov'],
  ['WebM', '\x1a\x45\xdf\xa3', 'matroska'],
  ['a film in Ogg', 'OggS\0\x02\x80theora', 'ogg'],
] as const)('%s may have a thumbnail', (_, beginning, kind) => {
  expect(kindOf(beginning)).toBe(kind)
})

test.each([
  ['nothing', ''],
  ['text', 'hello'],
  ['a drawing', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['JPEG XL', box('jxl ')],
  ['a picture that names no kind that is known', box('mif1', 'miaf')],
  ['sound in MP4', box('M4A ', 'isom')],
  ['sound in Ogg', 'OggS\0\x02\x01vorbis'],
  ['sound in RIFF', 'RIFF\0\0\0\0WAVE'],
  ['a playlist', '#EXTM3U\n'],
  ['a brand that stands after its box', `${box('mif1')}avif`],
])('%s has none', (_, beginning) => {
  expect(kindOf(beginning)).toBeNull()
})

test('a piece of a larger buffer is read as itself', () => {
  const buffer = Buffer.from('xxGIF89a', 'latin1')
  expect(thumbnailKind(buffer.subarray(2))).toBe('image')
  expect(thumbnailKind(buffer.subarray(0, 2))).toBeNull()
})
