import { beforeAll, describe, expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { type Api, api } from '../../../support/clients/api.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

let key: string
let caller: Api
let folder: string
let textSlug: string
const TEXT = '{"a":"text that would be much smaller"}\n'.repeat(1000)

const holdfast = await hostOfFile()
beforeAll(async () => {
  key = (await holdfast.addAccount()).apiKey
  caller = api(holdfast, key)
  folder = await caller.folder('many files')
  for (let file = 0; file < 30; file++)
    await caller.put(`${file}`, { folder, name: `photograph ${file}.jpg` })
  textSlug = (await caller.put(TEXT, { name: 'data.json' })).slug
})

/** What a client gets that decodes nothing. */
async function get(path: string, headers: Record<string, string> = {}) {
  const url = new URL(path, holdfast.url)
  const response = await fetch(url, { decompress: false, headers: { 'accept-encoding': 'gzip', ...headers } })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const encoding = response.headers.get('content-encoding')
  const text = Buffer.from(encoding === 'gzip' ? gunzipSync(bytes) : bytes).toString()
  return { status: response.status, headers: response.headers, size: bytes.length, encoding, text }
}

const PLAIN = { 'accept-encoding': 'identity' }

describe('text of ours', () => {
  test.each([
    ['the page of a folder, on the side that streams', () => `/f/${folder}`],
    ['the start page', () => '/'],
    ['an error page', () => '/nothing'],
    ['the document of the API', () => '/api/v1/openapi.json'],
    ['a list', () => '/api/v1/files'],
    ['a list that is streamed', () => `/api/v1/folder/${folder}/files`],
  ])('is sent smaller to who accepts that: %s', async (_, path) => {
    const headers = { authorization: `Bearer ${key}`, accept: 'text/html' }
    const plain = await get(path(), { ...headers, ...PLAIN })
    const small = await get(path(), headers)
    expect([plain.encoding, small.encoding]).toEqual([null, 'gzip'])
    expect(small.size * 1.5).toBeLessThan(plain.size)
    // Nonces and times differ from answer to answer, lengths do not.
    expect(small.text.length).toBe(plain.text.length)
    expect(small.status).toBe(plain.status)
    for (const answer of [plain, small]) expect(answer.headers.get('vary')).toContain('Accept-Encoding')
    const length = small.headers.get('content-length')
    if (length !== null) expect(Number(length)).toBe(small.size)
  })

  test('is left as it is where it is short, or gzip is not wanted', async () => {
    expect((await get('/health')).encoding).toBeNull()
    for (const accepted of ['br', 'gzip;q=0', 'identity, *;q=0']) {
      expect((await get('/', { 'accept-encoding': accepted })).encoding).toBeNull()
    }
    expect((await get('/', { 'accept-encoding': 'br, gzip;q=0.5' })).encoding).toBe('gzip')
  })

  test('is left as it is where another site asks in somebody’s name, whose secrets lengths could tell', async () => {
    const cookie = 'folder_access_token=x'
    const from = (site: string) => ({ cookie, 'sec-fetch-site': site })
    expect((await get('/', from('cross-site'))).encoding).toBeNull()
    expect((await get('/', from('same-site'))).encoding).toBeNull()
    expect((await get('/', from('same-origin'))).encoding).toBe('gzip')
    expect((await get('/', { 'sec-fetch-site': 'cross-site' })).encoding).toBe('gzip')
  })
})

describe('what people upload', () => {
  test('is never sent in another form, whole or in part', async () => {
    const answer = await caller.post('/v2/api/public/view', { file_slug: textSlug })
    const { file, token } = answer.body as { file: string; token: string }
    const address = `/v2/${file}?token=${token}`
    const whole = await get(address)
    expect(whole).toMatchObject({ status: 200, encoding: null, size: TEXT.length, text: TEXT })
    expect(whole.headers.get('etag')).toMatch(/^"[0-9a-f]{64}"$/)
    expect(await get(address, { range: 'bytes=0-9999' })).toMatchObject({
      status: 206,
      encoding: null,
      size: 10_000,
    })
    const zip = await get(`/f/${folder}?download=zip`)
    expect(zip).toMatchObject({ status: 200, encoding: null })
    expect(zip.headers.get('content-length')).toBe(String(zip.size))
  })
})
