import { describe, expect, test } from 'bun:test'
import { routes } from '../../../../src/server/routes.ts'
import { type Answer, api, newcomer } from '../../../support/clients/api.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const holdfast = await hostOfFile({ rateLimit: 20 })

const ORIGIN = { origin: 'https://elsewhere.example' }
const RATE_HEADERS = ['Limit', 'Remaining', 'Reset'].flatMap((name) => [
  `RateLimit-${name}`,
  `X-RateLimit-${name}`,
])

const list = (answer: Answer, header: string) =>
  (answer.headers.get(header) ?? '').split(',').map((word) => word.trim().toLowerCase())

function expectOpen(answer: Answer) {
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
}

describe('a preflight', () => {
  test.each([
    ['POST', '/api/v1/upload'],
    ['GET', '/api/v1/upload/status'],
    ['GET', '/api/v1/files'],
    ['GET', '/api/v1/file/Abcdefghijkl'],
    ['PATCH', '/api/v1/file/Abcdefghijkl'],
    ['POST', '/api/v1/file/move'],
    ['POST', '/api/v1/files/move'],
    ['POST', '/api/v1/file/report'],
    ['POST', '/file/delete'],
    ['POST', '/api/v1/file/delete'],
    ['GET', '/api/v1/folders'],
    ['POST', '/api/v1/folder'],
    ['PATCH', '/api/v1/folder/abcdefghijklmnop'],
    ['GET', '/api/v1/folder/abcdefghijklmnop/files'],
    ['GET', '/api/v1/folder/abcdefghijklmnop/folders'],
    ['POST', '/api/v1/folder/move'],
    ['POST', '/api/v1/folders/move'],
    ['POST', '/folder/delete'],
    ['POST', '/api/v1/folder/delete'],
    ['GET', '/api/v1/account'],
    ['POST', '/api/v1/uploads'],
    ['GET', '/api/v1/uploads'],
    ...['HEAD', 'GET', 'PATCH', 'POST', 'DELETE'].map(
      (method) => [method, `/api/v1/uploads/${'0'.repeat(32)}`] as const,
    ),
  ])('for %s %s is answered without a key', async (method, path) => {
    const answer = await api(holdfast).send(path, {
      method: 'OPTIONS',
      headers: {
        ...ORIGIN,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,x-folder-id',
      },
    })
    expect(answer.status).toBe(204)
    expectOpen(answer)
    expect(list(answer, 'access-control-allow-headers')).toContain('*')
    expect(list(answer, 'access-control-allow-methods')).toContain(method.toLowerCase())
    for (const header of ['authorization', 'content-type', 'x-folder-id']) {
      expect(list(answer, 'access-control-allow-headers')).toContain(header)
    }
  })
})

const TUS_REQUEST = [
  'Tus-Resumable',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Checksum',
  'Upload-Concat',
  'X-HTTP-Method-Override',
  'Idempotency-Key',
]
const TUS_ANSWER = [
  'Location',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Checksum-Algorithm',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Expires',
  'Upload-Metadata',
  'Upload-Concat',
  'Upload-Defer-Length',
  'Holdfast-Slug',
  'Holdfast-Url',
]

describe('a script of another origin', () => {
  test('may send every header of a resumable upload, and read those of the answers', async () => {
    const asked = await api(holdfast).send('/api/v1/uploads', { method: 'OPTIONS', headers: ORIGIN })
    for (const header of TUS_REQUEST) {
      expect(list(asked, 'access-control-allow-headers')).toContain(header.toLowerCase())
    }
    const started = await api(holdfast).send('/api/v1/uploads', {
      method: 'POST',
      headers: { ...ORIGIN, 'tus-resumable': '1.0.0', 'upload-length': '1' },
    })
    const refused = await api(holdfast).send('/api/v1/uploads', { method: 'POST', headers: ORIGIN })
    expect([started.status, refused.status]).toEqual([201, 412])
    for (const answer of [asked, started, refused]) {
      expectOpen(answer)
      for (const header of TUS_ANSWER) {
        expect(list(answer, 'access-control-expose-headers')).toContain(header.toLowerCase())
      }
    }
  })
})

describe('an answer to another origin', () => {
  test('may be read, whatever its status, and shows the rate', async () => {
    const caller = await newcomer(holdfast)
    const answers = [
      await caller.get('/api/v1/account', ORIGIN),
      await caller.get('/api/v1/file/Abcdefghijkl', ORIGIN),
      await caller.get('/api/v1/files?page=0', ORIGIN),
      await caller.upload('x', { headers: ORIGIN }),
      await caller.post('/api/v1/folder', { name: 'x' }, ORIGIN),
      await caller.post('/file/delete', { identifiers: ['Abcdefghijkl'] }, ORIGIN),
      await api(holdfast).get('/api/v1/account', ORIGIN),
      await api(holdfast).upload('x', { headers: ORIGIN }),
    ]
    for (const answer of answers) {
      expectOpen(answer)
      for (const header of RATE_HEADERS) {
        expect(list(answer, 'access-control-expose-headers')).toContain(header.toLowerCase())
      }
    }
  })

  test('may be read when the rate is used up, and tells when to come again', async () => {
    const caller = await newcomer(holdfast)
    for (let index = 0; index < 20; index += 1) await caller.get('/api/v1/account')
    const answer = await caller.get('/api/v1/account', ORIGIN)
    expect(answer.status).toBe(429)
    expectOpen(answer)
    expect(list(answer, 'access-control-expose-headers')).toContain('retry-after')
  })

  test('may be read when the method or the path is wrong', async () => {
    const caller = await newcomer(holdfast)
    expectOpen(await caller.send('/api/v1/account', { method: 'PUT', headers: ORIGIN }))
    expectOpen(await caller.get('/api/v1/nothing', ORIGIN))
  })
})

describe('a page', () => {
  const pages = routes.filter(({ method, documentation }) => method === 'get' && documentation.tag === 'Site')

  test.each(pages.map(({ path }) => path))('may be read by this site alone: %s', async (path) => {
    const answer = await api(holdfast).send(path.replaceAll(/\{\w+\}/g, 'nothing'), { headers: ORIGIN })
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect(answer.headers.get('cache-control')).not.toBeNull()
  })
})
