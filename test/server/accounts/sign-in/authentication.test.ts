import { describe, expect, test } from 'bun:test'
import { type Api, api, newcomer, refusal } from '../../../support/clients/api.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

/** Every endpoint that needs a key, with a body that would be right. */
const KEYED: [method: 'GET' | 'POST' | 'PATCH', path: string, body?: object][] = [
  ['GET', '/api/v1/upload/status?slug=Abcdefghijkl'],
  ['GET', '/api/v1/files'],
  ['GET', '/api/v1/file/Abcdefghijkl'],
  ['PATCH', '/api/v1/file/Abcdefghijkl', { name: 'x' }],
  ['POST', '/api/v1/file/move', { file: 'Abcdefghijkl' }],
  ['POST', '/api/v1/files/move', { files: ['Abcdefghijkl'] }],
  ['POST', '/file/delete', { identifiers: ['Abcdefghijkl'] }],
  ['POST', '/api/v1/file/delete', { identifiers: ['Abcdefghijkl'] }],
  ['GET', '/api/v1/folders'],
  ['POST', '/api/v1/folder', { name: 'x' }],
  ['PATCH', '/api/v1/folder/abcdefghijklmnop', { name: 'x' }],
  ['GET', '/api/v1/folder/abcdefghijklmnop/files'],
  ['GET', '/api/v1/folder/abcdefghijklmnop/folders'],
  ['POST', '/api/v1/folder/move', { folder: 'abcdefghijklmnop' }],
  ['POST', '/api/v1/folders/move', { folders: ['abcdefghijklmnop'] }],
  ['POST', '/folder/delete', { identifiers: ['abcdefghijklmnop'] }],
  ['POST', '/api/v1/folder/delete', { identifiers: ['abcdefghijklmnop'] }],
  ['GET', '/api/v1/account'],
]

function ask(caller: Api, [method, path, body]: (typeof KEYED)[number], authorization?: string) {
  const headers = authorization === undefined ? undefined : { authorization }
  if (method === 'GET') return caller.get(path, headers)
  return method === 'PATCH' ? caller.patch(path, body, headers) : caller.post(path, body, headers)
}

const MALFORMED = [
  'Bearer',
  'Bearer ',
  'Bearer hf_',
  'Basic dXNlcjpwYXNz',
  'hf_abc',
  'Bearer a b',
  'Token hf_abc',
]

describe('a key', () => {
  test('is wanted by every endpoint but upload and health', async () => {
    for (const call of KEYED) {
      const answer = await ask(api(holdfast), call)
      expect(answer).toMatchObject(refusal('INVALID_API_KEY'))
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/)
    }
  })

  test('that is malformed is refused everywhere', async () => {
    for (const call of KEYED) {
      for (const authorization of MALFORMED) {
        const answer = await ask(api(holdfast), call, authorization)
        expect(answer).toMatchObject(refusal('INVALID_API_KEY'))
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/)
      }
    }
  })

  test('that is unknown, or only nearly right, is refused everywhere', async () => {
    const { apiKey } = await holdfast.addAccount()
    const wrong = [
      `hf_${'A'.repeat(apiKey.length - 3)}`,
      apiKey.slice(0, -1),
      `${apiKey}A`,
      apiKey.toUpperCase(),
    ]
    for (const call of KEYED) {
      for (const key of wrong)
        expect(await ask(api(holdfast, key), call)).toMatchObject(refusal('INVALID_API_KEY'))
    }
  })

  test('works once more after a try with a wrong one', async () => {
    const { apiKey } = await holdfast.addAccount()
    await api(holdfast, `${apiKey}A`).get('/api/v1/account')
    expect(await api(holdfast, apiKey).get('/api/v1/account')).toMatchObject({ status: 200 })
  })

  test('that was revoked is refused everywhere, while another of the account goes on', async () => {
    const { apiKey, username } = await holdfast.addAccount()
    const second = await holdfast.addKey(username)
    expect(await api(holdfast, apiKey).get('/api/v1/account')).toMatchObject({ status: 200 })
    await holdfast.revokeKey(apiKey)
    for (const call of KEYED) {
      expect(await ask(api(holdfast, apiKey), call)).toMatchObject(refusal('INVALID_API_KEY'))
    }
    expect(await api(holdfast, apiKey).upload('x')).toMatchObject(refusal('INVALID_API_KEY'))
    expect(await api(holdfast, second).get('/api/v1/account')).toMatchObject({ status: 200 })
  })

  test('of a disabled account is known and not allowed', async () => {
    const { apiKey, username } = await holdfast.addAccount()
    await holdfast.disableAccount(username)
    for (const call of KEYED) {
      expect(await ask(api(holdfast, apiKey), call)).toMatchObject(refusal('ACCOUNT_DISABLED'))
    }
    expect(await api(holdfast, apiKey).upload('x')).toMatchObject(refusal('ACCOUNT_DISABLED'))
  })

  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('is sent with the word %s', async (word) => {
    const { apiKey } = await holdfast.addAccount()
    const answer = await api(holdfast).get('/api/v1/account', { authorization: `${word} ${apiKey}` })
    expect(answer.status).toBe(200)
  })

  test('is hf_ and at least 256 bits, and no two are the same', async () => {
    const { apiKey, username } = await holdfast.addAccount()
    expect(apiKey).toMatch(/^hf_[A-Za-z0-9_-]{43,}$/)
    expect(await holdfast.addKey(username)).not.toBe(apiKey)
  })

  test('is not taken from the address', async () => {
    const { apiKey } = await holdfast.addAccount()
    for (const name of ['key', 'api_key', 'token', 'access_token']) {
      const answer = await api(holdfast).get(`/api/v1/account?${name}=${apiKey}`)
      expect(answer).toMatchObject(refusal('INVALID_API_KEY'))
    }
  })
})

describe('an answer that depends on the key', () => {
  test('is private to the caller, whatever its status', async () => {
    const caller = await newcomer(holdfast)
    for (const call of KEYED) {
      const { headers } = await ask(caller, call)
      expect(headers.get('cache-control')).toMatch(/\bprivate\b/)
    }
    const { headers } = await api(holdfast).get('/api/v1/account')
    expect(headers.get('cache-control')).toMatch(/\bprivate\b/)
  })
})

describe('an upload', () => {
  test('needs no key', async () => {
    expect(await api(holdfast).upload('x')).toMatchObject({ status: 200, body: { success: true } })
  })

  test('belongs to the account of the key', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('x')
    expect(await caller.get(`/api/v1/file/${slug}`)).toMatchObject({ status: 200 })
  })

  test('with a wrong key is refused and never a guest’s', async () => {
    for (const authorization of MALFORMED) {
      const answer = await api(holdfast).upload('x', { headers: { authorization } })
      expect(answer).toMatchObject(refusal('INVALID_API_KEY'))
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/)
    }
    expect(await api(holdfast, 'hf_unknown').upload('x')).toMatchObject(refusal('INVALID_API_KEY'))
  })
})

describe('an account', () => {
  test('reads, moves, changes and deletes nothing of another', async () => {
    const owner = await newcomer(holdfast)
    const stranger = await newcomer(holdfast)
    const folder = await owner.folder('mine', { public: 1 })
    const file = await owner.put('x', { folder })
    const tries = [
      ...[file.slug, file.uuid, file.file_id].flatMap((id) => [
        stranger.get(`/api/v1/file/${id}`),
        stranger.patch(`/api/v1/file/${id}`, { name: 'stolen' }),
        stranger.post('/api/v1/file/move', { file: String(id) }),
      ]),
      stranger.get(`/api/v1/upload/status?slug=${file.slug}`),
      stranger.get(`/api/v1/files?folder=${folder}`),
      stranger.get(`/api/v1/folder/${folder}/files`),
      stranger.get(`/api/v1/folder/${folder}/folders`),
      stranger.patch(`/api/v1/folder/${folder}`, { name: 'stolen' }),
      stranger.post('/api/v1/folder/move', { folder }),
      stranger.post('/api/v1/folder', { name: 'x', parent: folder }),
      stranger.upload('x', { folder }),
    ]
    for (const answer of await Promise.all(tries)) expect(answer.status).toBe(404)
    await stranger.post('/file/delete', { identifiers: [file.slug, file.uuid, file.file_id] })
    await stranger.post('/folder/delete', { identifiers: [folder] })
    await stranger.post('/api/v1/files/move', { files: [file.slug] })
    await stranger.post('/api/v1/folders/move', { folders: [folder] })
    const { body } = await owner.get(`/api/v1/file/${file.slug}`)
    expect(body).toMatchObject({ data: { name: 'file.bin', folder_id: folder } })
    expect((await owner.get('/api/v1/folders')).body).toMatchObject({
      data: [{ name: 'mine', file_count: 1 }],
    })
  })
})
