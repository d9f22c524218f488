import { describe, expect, test } from 'bun:test'
import { type Api, api, newcomer, refusal, withHoldfast } from '../../support/clients/api.ts'
import { atNode, onCluster } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

/** Every endpoint that takes a JSON body. */
const BODIES = [
  ['PATCH', '/api/v1/file/1'],
  ['POST', '/api/v1/file/move'],
  ['POST', '/api/v1/files/move'],
  ['POST', '/file/delete'],
  ['POST', '/api/v1/file/delete'],
  ['POST', '/api/v1/folder'],
  ['PATCH', '/api/v1/folder/abcdefghijklmnop'],
  ['POST', '/api/v1/folder/move'],
  ['POST', '/api/v1/folders/move'],
  ['POST', '/folder/delete'],
  ['POST', '/api/v1/folder/delete'],
] as const

const sendJson = (caller: Api, method: string, path: string, body: BunFetchRequestInit['body']) =>
  caller.send(path, { method, body: body ?? null, headers: { 'content-type': 'application/json' } })

/** A folder's creation that is exactly so many bytes of JSON. */
const creation = (bytes: number) => {
  const frame = JSON.stringify({ name: 'big', ignored: '' })
  return JSON.stringify({ name: 'big', ignored: 'x'.repeat(bytes - frame.length) })
}

describe('an error', () => {
  test('has success, message and error, and nothing else', async () => {
    const { status, headers, body } = await (await newcomer(holdfast)).get('/api/v1/file/Abcdefghijkl')
    expect(status).toBe(404)
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(body).toEqual({ success: false, message: expect.stringMatching(/./), error: 'FILE_NOT_FOUND' })
  })

  test('and a success have an id of their own for each request', async () => {
    const caller = await newcomer(holdfast)
    const answers = [
      await caller.get('/api/v1/account'),
      await caller.get('/api/v1/file/0'),
      await caller.get('/health'),
    ]
    const ids = answers.map((answer) => answer.headers.get('x-request-id'))
    for (const id of ids) expect(id).toMatch(/./)
    expect(new Set(ids).size).toBe(3)
  })

  test('and a success tell nobody what runs here', async () => {
    const { headers } = await api(holdfast).get('/health')
    expect(headers.get('x-powered-by')).toBeNull()
  })
})

describe.each(BODIES)('%s %s', (method, path) => {
  test('refuses what is not JSON', async () => {
    const caller = await newcomer(holdfast)
    for (const text of [
      '',
      '{',
      '{"name": "x"',
      "{'name': 'x'}",
      'name=x',
      '{"name":"x"} trailing',
      '\u0000',
    ]) {
      expect(await sendJson(caller, method, path, text)).toMatchObject(refusal('INVALID_REQUEST'))
    }
  })

  test('refuses JSON that is not an object', async () => {
    const caller = await newcomer(holdfast)
    for (const text of ['null', '[]', '"name"', '5', 'true', '[{"name":"x"}]']) {
      expect(await sendJson(caller, method, path, text)).toMatchObject(refusal('INVALID_REQUEST'))
    }
  })

  test('refuses a body of more than 1 MiB, and names the limit', async () => {
    const caller = await newcomer(holdfast)
    const answer = await sendJson(caller, method, path, creation(1024 * 1024 + 1))
    expect(answer).toMatchObject(refusal('PAYLOAD_TOO_LARGE'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining('1 MB') })
  })
})

describe('a JSON body', () => {
  test('may be 1 MiB long and hold unknown fields', async () => {
    const caller = await newcomer(holdfast)
    const body = creation(1024 * 1024)
    expect(body).toHaveLength(1024 * 1024)
    expect(await sendJson(caller, 'POST', '/api/v1/folder', body)).toMatchObject({ status: 201 })
  })

  test('that is wrong is told what it should be, and so is a query', async () => {
    const caller = await newcomer(holdfast)
    const link = await sendJson(caller, 'POST', '/api/v1/links', '{"folders": ["a"], "uploads": "yes"}')
    expect(link.body).toMatchObject({ error: 'INVALID_REQUEST', message: '"uploads": must be an object' })
    const move = await sendJson(caller, 'POST', '/api/v1/file/move', '{"file": -1, "folder": "root"}')
    expect(move.body).toMatchObject({ error: 'INVALID_REQUEST', message: '"file": must be 0 or more' })
    const list = await caller.get('/api/v1/files?sort=age')
    const sorts = '"created_at", "name", "size" or "downloads"'
    expect(list.body).toMatchObject({ error: 'INVALID_REQUEST', message: `"sort": must be ${sorts}` })
  })

  test('names a field that there is not', async () => {
    const body = JSON.stringify({ folders: ['a'], uploads: { zz: 1 } })
    const answer = await sendJson(await newcomer(holdfast), 'POST', '/api/v1/links', body)
    const said = { error: 'UNKNOWN_FIELD', message: '"uploads.zz": there is no such field' }
    expect(answer).toMatchObject({ status: 400, body: said })
  })

  test('that lists what is to be deleted may be 1 MiB long', async () => {
    const identifiers = Array.from({ length: 24_000 }, () => crypto.randomUUID())
    const body = JSON.stringify({ identifiers }).padEnd(1024 * 1024)
    const answer = await sendJson(await newcomer(holdfast), 'POST', '/file/delete', body)
    expect(answer).toMatchObject({ status: 200, body: { failed_deletes: identifiers.length } })
  })

  test('of more than that is refused without a length too', async () => {
    const caller = await newcomer(holdfast)
    const piece = Buffer.from(' '.repeat(64 * 1024))
    let left = 20
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (left-- === 0) controller.close()
        else controller.enqueue(piece)
        await Bun.sleep(0)
      },
    })
    expect(await sendJson(caller, 'POST', '/api/v1/folder', body)).toMatchObject(refusal('PAYLOAD_TOO_LARGE'))
  })

  test('that is not UTF-8 is refused', async () => {
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from('"}')])
    const answer = await sendJson(await newcomer(holdfast), 'POST', '/api/v1/folder', body)
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
  })

  test('nested deeply is refused or ignored, and never a failure of the server', async () => {
    const deep = `{"identifiers":["x"],"ignored":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const { status } = await sendJson(await newcomer(holdfast), 'POST', '/file/delete', deep)
    expect([200, 400]).toContain(status)
  })

  test('cannot reach into the server by __proto__', async () => {
    const caller = await newcomer(holdfast)
    const body = '{"__proto__":{"name":"x"},"constructor":{"prototype":{"name":"x"}}}'
    const answer = await sendJson(caller, 'POST', '/api/v1/folder', body)
    expect(answer.status).toBe(400)
    expect((await caller.get('/api/v1/folders')).body).toMatchObject({ data: [] })
  })

  test.each([
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/x-www-form-urlencoded',
    'text/plain',
  ])('is read as JSON when it is declared as %s', async (type) => {
    const caller = await newcomer(holdfast)
    const answer = await caller.send('/api/v1/folder', {
      method: 'POST',
      body: '{"name":"read"}',
      headers: { 'content-type': type },
    })
    expect(answer).toMatchObject({ status: 201, body: { data: { name: 'read' } } })
  })

  test('is answered in UTF-8', async () => {
    const caller = await newcomer(holdfast)
    await caller.folder('Ελληνικά 日本語 🗂')
    expect((await caller.get('/api/v1/folders')).body).toMatchObject({
      data: [{ name: 'Ελληνικά 日本語 🗂' }],
    })
  })
})

describe('a method that a path does not have', () => {
  test.each([
    ['GET', '/api/v1/upload', ['POST']],
    ['DELETE', '/api/v1/upload/status', ['GET']],
    ['POST', '/api/v1/files', ['GET']],
    ['PUT', '/api/v1/files', ['GET']],
    ['DELETE', '/api/v1/file/Abcdefghijkl', ['GET', 'PATCH']],
    ['PUT', '/api/v1/file/move', ['POST']],
    ['GET', '/api/v1/files/move', ['POST']],
    ['GET', '/file/delete', ['POST']],
    ['DELETE', '/folder/delete', ['POST']],
    ['PUT', '/api/v1/folders', ['GET']],
    ['GET', '/api/v1/folder', ['POST']],
    ['PUT', '/api/v1/folder/abcdefghijklmnop/files', ['GET']],
    ['DELETE', '/api/v1/folder/abcdefghijklmnop', ['PATCH']],
    ['PUT', '/api/v1/folder/move', ['POST']],
    ['GET', '/api/v1/folders/move', ['POST']],
    ['PUT', '/api/v1/account', ['GET', 'PATCH', 'POST']],
    ['POST', '/health', ['GET']],
  ])('%s %s is refused, and Allow names those it has', async (method, path, allowed) => {
    const answer = await (await newcomer(holdfast)).send(path, { method })
    expect(answer).toMatchObject(refusal('METHOD_NOT_ALLOWED'))
    const allow = (answer.headers.get('allow') ?? '').split(/,\s*/)
    for (const each of allowed) expect(allow).toContain(each)
    expect(allow).not.toContain(method)
  })
})

describe('a path that does not exist', () => {
  test.each([
    '/api/v1/nothing',
    '/api/v1',
    '/api/v2/files',
    '/api/v1/folder/abcdefghijklmnop/nothing',
    '/api/v1/files/x',
  ])('%s is not found, in JSON', async (path) => {
    expect(await (await newcomer(holdfast)).get(path)).toMatchObject(refusal('NOT_FOUND'))
  })

  test('with broken escapes is refused, and never a failure of the server', async () => {
    const caller = await newcomer(atNode(holdfast))
    for (const path of ['/api/v1/file/%', '/api/v1/file/%ff', '/api/v1/folder/%00/files']) {
      expect([400, 404]).toContain((await caller.get(path)).status)
    }
  })
})

describe('a file larger than the limit', () => {
  test.each([
    ['with a length', false],
    ['without a length', true],
  ])('is refused %s, to the byte, and nothing of it stays', (_, chunked) =>
    withHoldfast({ maxFileSize: 50_000 }, async (own) => {
      const caller = await newcomer(own)
      expect(await caller.put(Buffer.alloc(50_000), { chunked })).toMatchObject({ size: 50_000 })
      expect(await caller.upload(Buffer.alloc(50_001), { chunked })).toMatchObject(refusal('FILE_TOO_LARGE'))
      expect(await api(own).upload(Buffer.alloc(50_001), { chunked })).toMatchObject(
        refusal('FILE_TOO_LARGE'),
      )
      const { body } = await caller.get('/api/v1/account')
      expect(body).toMatchObject({ data: { storage_used: 50_000, files_count: 1 } })
    }),
  )

  test('is not one for what stands around it in the request', () =>
    withHoldfast({ maxFileSize: 10_000 }, async (own) => {
      const answer = await (await newcomer(own)).uploadParts([
        { disposition: 'name="note"', content: 'x'.repeat(300) },
        { disposition: `name="file"; filename="${'x'.repeat(200)}"`, content: Buffer.alloc(10_000) },
      ])
      expect(answer).toMatchObject({ status: 200, body: { size: 10_000 } })
    }))
})

// S3 does not tell how much room it has, and PostgreSQL neither.
describe.skipIf(onCluster)('a disk with less free space than the floor', () => {
  test('takes no upload from anybody, with a length or without, and serves everything else', () =>
    withHoldfast({ minFreeSpace: Number.MAX_SAFE_INTEGER }, async (own) => {
      const caller = await newcomer(own)
      for (const uploader of [caller, api(own)]) {
        for (const chunked of [false, true]) {
          const refused = await uploader.upload('x', { chunked })
          expect(refused).toMatchObject(refusal('STORAGE_UNAVAILABLE'))
          expect(refused.body).toMatchObject({ reason: 'full' })
        }
      }
      expect(await caller.post('/api/v1/folder', { name: 'still works' })).toMatchObject({ status: 201 })
      expect(await caller.get('/api/v1/account')).toMatchObject({
        status: 200,
        body: { data: { storage_used: 0, files_count: 0 } },
      })
      expect(await caller.get('/health')).toMatchObject({ status: 200 })
    }))
})
