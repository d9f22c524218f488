import { describe, expect, test } from 'bun:test'
import { type BoundaryLine, parseBoundary, readBoundaryLine } from '../../../src/uploads/boundary.ts'

describe('the boundary that a Content-Type names', () => {
  test.each(['x', 'a b', 'a'.repeat(70), `${' '.repeat(69)}!`])('may be %p', (boundary) => {
    expect(parseBoundary(`multipart/form-data; boundary="${boundary}"`)).toBe(boundary)
  })

  test.each(['', 'a'.repeat(71), 'ends with a blank ', 'é'])('is never %p', (boundary) => {
    expect(() => parseBoundary(`multipart/form-data; boundary="${boundary}"`)).toThrow('1 to 70 characters')
  })

  test.each([null, '', 'text/plain; boundary=x', 'multipart/mixed; boundary=x'])(
    'is not read of %p',
    (type) => {
      expect(() => parseBoundary(type)).toThrow('must be multipart/form-data')
    },
  )
})

describe('a line that begins with the boundary', () => {
  const read = (text: string) =>
    [...text].reduce<BoundaryLine>(
      (line, character) => readBoundaryLine(line, character.charCodeAt(0)),
      'bare',
    )

  test.each([
    ['\r\n', 'part'],
    [' \t\r\n', 'part'],
    ['--\r', 'closed'],
    ['--\n', 'closed'],
    ['-- \t\r', 'closed'],
    ['--', 'closing'],
    ['-', 'hyphen'],
    ['-x', 'content'],
    ['- ', 'content'],
    ['--x', 'content'],
    ['---', 'content'],
    [' -', 'content'],
    [' x', 'content'],
  ] as const)('that goes on with %j is %s', (text, line) => {
    expect(read(text)).toBe(line)
  })

  test.each(['\n', ' \n', '\rx', '\r\r'])('that goes on with %j is malformed', (text) => {
    expect(() => read(text)).toThrow('malformed')
  })
})
