import { describe, expect, test } from 'bun:test'
import { isNoPassword, verifyPassword } from '../../../src/core/password-hash.ts'
import { cleanFileName } from '../../../src/domain/file-name.ts'
import { parseFolderName } from '../../../src/domain/folder-name.ts'
import { parseMailAddress } from '../../../src/domain/mail-address.ts'
import { parseNotice } from '../../../src/domain/notice.ts'
import { parseReportText } from '../../../src/domain/report.ts'
import { boundedNfc, isLongerThan } from '../../../src/domain/text.ts'
import { parseRange } from '../../../src/server/answers/part-to-send.ts'
import { parseMetadata } from '../../../src/uploads/resumable/tus-headers.ts'
import { refusalOf } from './refusal.ts'

const codeOf = (call: () => unknown) => refusalOf(call).code

/** Normalised at once, it would take hours: marks are sorted, and this is the worst order for it. */
const MARKS = `a${'\u0301'.repeat(1_000_000)}${'\u0323'.repeat(1_000_000)}`
const SPACES = ' '.repeat(2_000_000)

describe('normalising before measuring', () => {
  test('does not happen to the name of a folder', () => {
    expect(codeOf(() => parseFolderName(MARKS))).toBe('INVALID_NAME')
  })

  test('does not happen to the name of a file, which is cut first and keeps its extension', () => {
    const name = cleanFileName(`${MARKS}.jpeg`)
    expect(name).toEndWith('.jpeg')
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
  })

  test('does not happen to a notice, a report or a mail address', () => {
    const notice = { text: MARKS, level: 'info', from: null, until: null } as const
    expect(codeOf(() => parseNotice(notice))).toBe('INVALID_REQUEST')
    expect(codeOf(() => parseReportText(MARKS))).toBe('INVALID_REQUEST')
    expect(parseMailAddress(`a@${MARKS}`)).toBeNull()
  })

  test('does not happen to a password', async () => {
    expect(isNoPassword(MARKS)).toBe(true)
    const hash = await Bun.password.hash('x', { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
    expect(await verifyPassword(MARKS, hash)).toBe(false)
  })
})

describe('a regular expression that goes back over spaces', () => {
  test('is not what reads the Range header', () => {
    expect(parseRange(`bytes=0${SPACES}x`, 10)).toEqual({ kind: 'whole' })
    expect(parseRange(`bytes=0-${SPACES}`, 10)).toEqual({ kind: 'part', start: 0, end: 10 })
    expect(parseRange(`bytes=${SPACES}0-1`, 10)).toEqual({ kind: 'part', start: 0, end: 2 })
  })

  test('is not what reads Upload-Metadata', () => {
    expect(codeOf(() => parseMetadata(`a${' '.repeat(8000)}!`))).toBe('INVALID_REQUEST')
    expect([...parseMetadata('a  Yg== , c')]).toEqual([
      ['a', 'b'],
      ['c', ''],
    ])
  })
})

test('a name in decomposed form is good up to the limit that it has when composed', () => {
  // Four code points become one.
  const decomposed = '\u1f82'.normalize('NFD')
  expect([...decomposed]).toHaveLength(4)
  expect(parseFolderName(decomposed.repeat(100))).toBe('\u1f82'.repeat(100))
  expect(codeOf(() => parseFolderName(decomposed.repeat(101)))).toBe('INVALID_NAME')
  expect(cleanFileName(`${decomposed.repeat(83)}.txt`)).toBe(`${'\u1f82'.repeat(83)}.txt`)
})

test('characters are code points, and no more of them are counted than it takes', () => {
  expect(isLongerThan('😀'.repeat(10), 10)).toBe(false)
  expect(isLongerThan('😀'.repeat(11), 10)).toBe(true)
  expect(isLongerThan('x'.repeat(11), 10)).toBe(true)
  expect(boundedNfc('e\u0301', 1)).toBe('é')
  expect(boundedNfc('xx', 1)).toBeNull()
})
