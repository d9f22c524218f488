/** What the settings page works out by itself. */
import { describe, expect, test } from 'bun:test'
import { browserName } from '../../../web/settings/browser-name.ts'
import { pathsOf } from '../../../web/settings/folder-paths.ts'
import { curlExample, programExample } from '../../../web/settings/key-examples.ts'
import { momentOf } from '../../../web/shared/end.ts'

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox', 'Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge',
    'Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
    'Safari',
    'iOS',
  ],
  [
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
    'Chrome',
    'Android',
  ],
  ['curl/8.5.0', null, null],
])('%s is told as %s on %s', (userAgent, browser, system) => {
  expect(browserName(userAgent)).toEqual({ browser, system })
})

test('folders are named by their paths, in the order of these', () => {
  const folders = [
    { id: 'c', name: 'Seals', place: 'a' },
    { id: 'b', name: 'Papers', place: 'root' },
    { id: 'a', name: '2026', place: 'd' },
    { id: 'd', name: 'Photos', place: 'root' },
    { id: 'e', name: 'Photos 2', place: 'root' },
    { id: 'f', name: 'photos 10', place: 'root' },
    { id: 'g', name: '999', place: 'd' },
  ]
  expect(pathsOf(folders).map(({ path }) => path)).toEqual([
    'Papers',
    'Photos',
    'Photos / 999',
    'Photos / 2026',
    'Photos / 2026 / Seals',
    'Photos 2',
    'photos 10',
  ])
})

test('a key ends never, after so many days, or when a day is over', () => {
  const now = Date.UTC(2026, 0, 31, 12)
  expect(momentOf({ kind: 'never' }, now)).toBeNull()
  expect(momentOf({ kind: 'days', days: 30 }, now)).toBe('2026-03-02T12:00:00.000Z')
  expect(momentOf({ kind: 'on', day: '2026-02-28' }, now)).toBe(
    new Date(2026, 2, 1, 0, 0, 0, -1).toISOString(),
  )
})

describe('the examples of a key', () => {
  test.each([
    [['read', 'upload'], '-F "file=@picture.jpg"', 'holdfast upload picture.jpg'],
    [['read', 'manage'], '/api/v1/files', 'holdfast ls'],
    [['manage'], '/api/v1/keys', 'holdfast info'],
  ] as const)('that may %j ask for what it may do', (scopes, curl, program) => {
    const key = { api_key: 'hf_secret', scopes: [...scopes] }
    expect(curlExample('https://files.example.org', key)).toContain(curl)
    expect(programExample('https://files.example.org', key)).toEndWith(`\n${program}`)
  })
})
