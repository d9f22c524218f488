/** Numbers in headers, queries and fields: one function reads them, and none of these texts becomes a failure or another number. */
import { beforeAll, expect, test } from 'bun:test'
import { wholeNumber } from '../../../../src/domain/ids.ts'
import { sampleOf } from '../../../support/cases.ts'
import { openRaw } from '../../../support/network/raw-connection.ts'
import { atNode } from '../../../support/servers/holdfast.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

/** Each is no number, or one that is too large for anything. `twice`: the header comes once for each. */
const WRONG: readonly (readonly string[])[] = [
  ['5', '6'],
  ['5, 5'],
  [''],
  ['-5'],
  ['+1'],
  ['1e3'],
  ['0x5'],
  ['5.0'],
  ['9007199254740993'],
  ['100000000000000000000'],
  ['5 5'],
  ['٥'],
  ['５'],
  ['NaN'],
  ['Infinity'],
]
const EQUAL = ['5', '5']

const holdfast = await hostOfFile()
let key = ''
let folder = ''
let slug = ''
let upload = ''
beforeAll(async () => {
  key = (await holdfast.addAccount()).apiKey
  const send = (path: string, init: RequestInit) =>
    fetch(holdfast.url + path, {
      ...init,
      headers: { Authorization: `Bearer ${key}`, ...Object.fromEntries(new Headers(init.headers)) },
    })
  const made = await send('/api/v1/folder', { method: 'POST', body: JSON.stringify({ name: 'numbers' }) })
  folder = JSON.stringify(await made.json()).match(/"identifier":"(\w+)"/)?.[1] ?? ''
  const put = await send('/a.txt', { method: 'PUT', body: 'hello', headers: { Accept: 'application/json' } })
  slug = JSON.stringify(await put.json()).match(/"slug":"(\w+)"/)?.[1] ?? ''
  const tus = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '20' }
  const created = await send('/api/v1/uploads', { method: 'POST', headers: tus })
  upload = created.headers.get('location')?.replace(/^https?:\/\/[^/]+/, '') ?? ''
  expect([folder, slug, upload]).not.toContain('')
})

/** A request with one number left open: header lines or a query. `ignored`: what is wrong counts as nothing. */
interface Place {
  readonly method: string
  readonly path: () => string
  readonly header?: string
  readonly lines?: string
  readonly body?: string
  readonly ignored?: boolean
}

const TUS = 'Tus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream'
const PLACES: Readonly<Record<string, Place>> = {
  'Content-Length of a PUT': { method: 'PUT', path: () => '/b.txt', header: 'Content-Length', body: 'hello' },
  'Content-Length of a form': {
    method: 'POST',
    path: () => '/sign-in',
    header: 'Content-Length',
    lines: 'Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded',
    body: 'hello',
  },
  'Content-Length of JSON': {
    method: 'POST',
    path: () => '/api/v1/folder',
    header: 'Content-Length',
    body: '"abc"',
  },
  'Content-Length of an upload form': {
    method: 'POST',
    path: () => '/api/v1/upload',
    header: 'Content-Length',
    lines: 'Content-Type: multipart/form-data; boundary=x',
    body: 'hello',
  },
  'Content-Length of a PATCH by tus': {
    method: 'PATCH',
    path: () => upload,
    header: 'Content-Length',
    lines: `${TUS}\r\nUpload-Offset: 0`,
    body: 'hello',
  },
  'Upload-Length': { method: 'POST', path: () => '/api/v1/uploads', header: 'Upload-Length', lines: TUS },
  'Upload-Offset': { method: 'PATCH', path: () => upload, header: 'Upload-Offset', lines: TUS },
  'Upload-Defer-Length': {
    method: 'POST',
    path: () => '/api/v1/uploads',
    header: 'Upload-Defer-Length',
    lines: TUS,
  },
  'Content-Range': { method: 'PUT', path: () => '/c.txt', header: 'Content-Range', body: 'hello' },
  Range: { method: 'GET', path: () => `/d/${slug}?download=1`, header: 'Range: bytes=0-', ignored: true },
  'Last-Event-ID': { method: 'HEAD', path: () => '/api/v1/events', header: 'Last-Event-ID', ignored: true },
  page: { method: 'GET', path: () => '/api/v1/files?page=' },
  per_page: { method: 'GET', path: () => '/api/v1/files?per_page=' },
  'page of a folder page': { method: 'GET', path: () => `/f/${folder}?page=`, ignored: true },
  'page of a folder listing': { method: 'GET', path: () => `/api/v1/folder/${folder}/files?page=` },
  'a number in a path': { method: 'GET', path: () => '/api/v1/file/' },
}

async function statusOf(place: Place, texts: readonly string[]): Promise<number> {
  const { method, header, lines, body = '' } = place
  const [first = ''] = texts
  const inAddress = texts.length > 1 ? `${first},${texts[1]}` : first
  const path = header === undefined ? place.path() + encodeURIComponent(inAddress) : place.path()
  const isLength = header === 'Content-Length'
  const open =
    header === undefined
      ? []
      : texts.map((text) => (header.includes('=') ? `${header}${text}` : `${header}: ${text}`))
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${new URL(atNode(holdfast).url).host}`,
    `Authorization: Bearer ${key}`,
    ...(lines === undefined ? [] : [lines]),
    ...open,
    ...(isLength || method === 'GET' || method === 'HEAD' ? [] : [`Content-Length: ${body.length}`]),
  ]
  const connection = await openRaw(atNode(holdfast).url)
  await connection.send(`${head.join('\r\n')}\r\n\r\n${body}`)
  const { status } = await connection.answer()
  connection.destroy()
  return status
}

for (const [name, place] of Object.entries(PLACES)) {
  for (const texts of sampleOf(WRONG)) {
    test(`${name} that is ${JSON.stringify(texts)} is refused or ignored, and nothing fails`, async () => {
      const status = await statusOf(place, texts)
      if (place.ignored === true) expect([200, 206, 302, 304, 400, 404, 405, 416]).toContain(status)
      else expect([400, 404, 409, 413]).toContain(status)
    })
  }

  test(`${name} that comes twice, equal, is refused or ignored, and nothing fails`, async () => {
    const status = await statusOf(place, EQUAL)
    if (place.ignored === true) expect(status).toBeLessThan(429)
    else expect([400, 404, 409, 413]).toContain(status)
  })
}

test('a whole number is ASCII digits alone, and what cannot be counted is too large for anything', () => {
  for (const texts of WRONG) {
    const [text = ''] = texts
    if (/^\d+$/.test(text)) continue
    expect(wholeNumber(text)).toBeNull()
  }
  for (const text of [null, undefined, ' 5', '5 ', '5\n', '0b1', '1_000'])
    expect(wholeNumber(text)).toBeNull()
  expect(['0', '007', '5', '9007199254740991'].map(wholeNumber)).toEqual([0, 7, 5, Number.MAX_SAFE_INTEGER])
  expect(['9007199254740993', '1'.repeat(4000)].map(wholeNumber)).toEqual([
    Number.MAX_SAFE_INTEGER,
    Number.MAX_SAFE_INTEGER,
  ])
})
