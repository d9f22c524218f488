import { expect, test } from 'bun:test'
import { isLinkSlug, parseLinkSlug, slugSkeleton } from '../../../src/domain/link-slug.ts'
import { makeLinkSlug, systemRandom } from '../../../src/domain/random.ts'

test.each(['abc', 'summer-2026', 'a-b-c', '2026', 'x'.repeat(64)])('%s may be chosen', (slug) => {
  expect(String(parseLinkSlug(slug))).toBe(slug)
})

test.each([
  '',
  'ab',
  'x'.repeat(65),
  'Summer',
  '-abc',
  'abc-',
  'a--b',
  'a b c',
  'a/b',
  'süd',
  'a.b',
  'abc\n',
])('%p is no slug', (slug) => {
  expect(isLinkSlug(slug)).toBe(false)
  expect(() => parseLinkSlug(slug)).toThrow('3 to 64')
})

test.each([
  'admin',
  'adm1n',
  'ad-min',
  's1gn-ln',
  'holdfast',
  'h0ldfa5t',
  'adrnin',
  'vvvvw',
  'wvvw',
  'supp0rt',
])('%s looks like a reserved word', (slug) => {
  expect(() => parseLinkSlug(slug)).toThrow('reserved')
})

test.each([
  ['report-10', 'rep0rtio'],
  ['modern', 'modem'],
  ['swirl-5', 'svvirls'],
])('%s looks like %s', (one, other) => {
  expect(slugSkeleton(one)).toBe(slugSkeleton(other))
})

test('a slug that is made is one that could be chosen, and is unlike all others', () => {
  const slugs = Array.from({ length: 1000 }, () => makeLinkSlug(systemRandom))
  for (const slug of slugs) expect(slug).toMatch(/^[a-hjkmp-uw-z][a-hjkmp-uw-z2-46-9]{15}$/)
  expect(new Set(slugs.map((slug) => String(parseLinkSlug(slug)))).size).toBe(1000)
})
