import { expect, test } from 'bun:test'
import { createSigning } from '../../../src/core/hmac.ts'

const signing = createSigning('one secret')

test('a token is read for the purpose that it was signed for, and by the same secret', () => {
  const token = signing.sign('link', { file: 7 })
  expect(signing.verify('link', token)).toEqual({ file: 7 })
  expect(signing.verify('cookie', token)).toBe(null)
  expect(createSigning('another secret').verify('link', token)).toBe(null)
})

test('a token that was changed, cut or added to is none', () => {
  const token = signing.sign('link', { file: 7 })
  const [body = '', signature = ''] = token.split('.')
  const [other = ''] = signing.sign('link', { file: 8 }).split('.')
  const last = signature.endsWith('A') ? 'B' : 'A'
  const spoilt = [
    `${other}.${signature}`,
    `${body}.${signature.slice(0, -1)}${last}`,
    `${body}.${signature.slice(0, -1)}`,
    `${body}.`,
    body,
    `${token}.`,
    `${token}.more`,
    '',
  ]
  expect(spoilt.map((each) => signing.verify('link', each))).toEqual(spoilt.map(() => null))
})

test('a tag changes with its text and its purpose', () => {
  const tags = ['a', 'b', 'c', 'd'].flatMap((text) => [signing.tag('one', text), signing.tag('two', text)])
  expect(new Set(tags).size).toBe(8)
  expect(new Set(tags.map((tag) => tag.length))).toEqual(new Set([16]))
  expect(signing.tag('one', 'a')).toBe(tags[0] ?? '')
})
