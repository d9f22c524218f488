import { expect, test } from 'bun:test'
import { iconAddress } from '../../../src/thumbnails/icons.ts'

const BINARY = 'application/octet-stream'

test('an icon depends on type and extension alone, whatever names came before', () => {
  const name = (address: string) => address.replace(/^\/assets\/icon-\w{8}-/, '')
  const expected: readonly (readonly [type: string, name: string, icon: string])[] = [
    [BINARY, 'a.bin', 'other-BIN.svg'],
    [BINARY, 'B.BIN', 'other-BIN.svg'],
    [BINARY, '.bin', 'other.svg'],
    [BINARY, 'a..bin', 'other-BIN.svg'],
    [BINARY, 'Dr. No', 'other.svg'],
    [BINARY, 'Invoice No. 5', 'other.svg'],
    [BINARY, 'bin', 'other.svg'],
    [BINARY, 'a.xbin', 'other-XBIN.svg'],
    [BINARY, 'a.tar.bin', 'other-BIN.svg'],
    ['audio/mpeg', 'a.bin', 'audio-BIN.svg'],
    ['audio/mpeg', 'a.ÄB', `audio-${encodeURIComponent('ÄB')}.svg`],
    ['audio/mpeg', 'a.äb', `audio-${encodeURIComponent('ÄB')}.svg`],
    [BINARY, 'ends with a dot.', 'other.svg'],
    ...Array.from({ length: 20 }, (_, at) => [BINARY, `a.q${at}`, `other-Q${at}.svg`] as const),
  ]
  for (const [type, file, icon] of [...expected, ...expected.toReversed(), ...expected]) {
    expect([type, file, name(iconAddress(type, file))]).toEqual([type, file, icon])
  }
})
