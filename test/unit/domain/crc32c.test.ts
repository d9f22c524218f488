import { expect, test } from 'bun:test'
import { crc32c } from '../../../src/uploads/resumable/append.ts'
import { chance } from '../../support/chance.ts'

test.each([
  ['nothing', new Uint8Array(), 0x00000000],
  ['the check value of the catalogues', Buffer.from('123456789'), 0xe3069283],
  ['32 zeros (RFC 3720, B.4)', new Uint8Array(32), 0x8a9136aa],
  ['32 ones (RFC 3720, B.4)', new Uint8Array(32).fill(0xff), 0x62a8ab43],
])('the checksum of %s', (_, bytes, sum) => {
  expect(crc32c(bytes)).toBe(sum)
})

test('pieces of any length come to the same as the whole', () => {
  const random = chance(1)
  const bytes = random.bytes(1000)
  for (let tries = 0; tries < 50; tries++) {
    const cut = random.whole(0, bytes.length)
    expect(crc32c(bytes.subarray(cut), crc32c(bytes.subarray(0, cut)))).toBe(crc32c(bytes))
  }
})
