/** Files as the body of a PUT, as `curl -T` sends them. */
import { describe, expect, test } from 'bun:test'
import { type Api, api, newcomer, refusal } from '../../support/clients/api.ts'
import { sessionHeaders, signedIn } from '../../support/clients/site-visitor.ts'
import { openRaw } from '../../support/network/raw-connection.ts'
import { atNode } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const JSON_WANTED = { accept: 'application/json' }
const KEY = 'a7c1e2f0-33b5-4f6a-8a52-0d9be4c6f7a1'

const holdfast = await hostOfFile({ maxFileSize: 1000, storageLimit: 1500 })

function put(caller: Api, path: string, body: string | ReadableStream, headers: Record<string, string> = {}) {
  return caller.send(path, { method: 'PUT', body, headers })
}

async function stored(url: unknown) {
  const response = await fetch(`${String(url).trim()}?download=1`)
  return { name: response.headers.get('content-disposition'), content: await response.text() }
}

describe.each(['/', '/api/v1/upload/'])('PUT %s<name>', (at) => {
  test('stores the body under the name and answers the link in a line of text', async () => {
    for (const caller of [api(holdfast), await newcomer(holdfast)]) {
      const answer = await put(caller, `${at}notes%20%C3%BC.txt`, 'as it is')
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(answer.body).toMatch(/^http:\/\/\S+\/d\/[A-Za-z0-9]{12}\n$/)
      const { name, content } = await stored(answer.body)
      expect(content).toBe('as it is')
      expect(name).toContain("filename*=UTF-8''notes%20%C3%BC.txt")
    }
  })

  test('answers what a form does where Accept asks for JSON', async () => {
    const caller = await newcomer(holdfast)
    const answer = await put(caller, `${at}a.txt`, 'four', JSON_WANTED)
    expect(answer).toMatchObject({ status: 200, body: { success: true, size: 4 } })
    expect(answer.body).not.toHaveProperty('receipt')
    const refused = await put(caller, `${at}a.txt`, 'four', { accept: 'application/json;q=0, */*' })
    expect(typeof refused.body).toBe('string')
  })

  test('takes a body without a length, and an empty one', async () => {
    for (const content of ['in chunks', '']) {
      const body = new Blob([content]).stream()
      const answer = await put(api(holdfast), `${at}a.txt`, body)
      expect((await stored(answer.body)).content).toBe(content)
    }
  })

  test('ignores cookies: with a session and no key the caller is a guest', async () => {
    const { username } = await holdfast.addAccount()
    const headers = sessionHeaders(await signedIn(holdfast, username))
    const answer = await put(api(holdfast), `${at}a.txt`, 'x', { ...headers, ...JSON_WANTED })
    expect(answer.body).toHaveProperty('receipt')
    const abroad = { ...headers, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }
    expect((await put(api(holdfast), `${at}a.txt`, 'x', { ...abroad, ...JSON_WANTED })).body).toHaveProperty(
      'receipt',
    )
  })

  test('keeps to the limits, folders and keys of forms', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('in here')
    expect(await put(caller, `${at}a.txt`, 'x', { 'x-folder-id': folder })).toMatchObject({ status: 200 })
    const unknown = { 'x-folder-id': 'z000000000000000' }
    expect(await put(caller, `${at}a.txt`, 'x', unknown)).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    expect(await put(api(holdfast), `${at}a.txt`, 'x', unknown)).toMatchObject(refusal('INVALID_API_KEY'))
    expect(await put(api(holdfast, 'hf_wrong'), `${at}a.txt`, 'x')).toMatchObject(refusal('INVALID_API_KEY'))
    for (const body of [() => 'x'.repeat(1001), () => new Blob(['x'.repeat(1001)]).stream()]) {
      expect(await put(caller, `${at}a.txt`, body())).toMatchObject(refusal('FILE_TOO_LARGE'))
    }
    await put(caller, `${at}a.txt`, 'x'.repeat(900))
    const full = await put(caller, `${at}a.txt`, 'x'.repeat(900))
    expect(full).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
    for (const left of ['600 bytes', 'none']) {
      const large = [await put(caller, `${at}a.txt`, 'x'.repeat(1001)), await caller.upload('x'.repeat(1001))]
      for (const answer of large)
        expect({ left, answer }).toMatchObject({ answer: refusal('FILE_TOO_LARGE') })
      await put(caller, `${at}a.txt`, 'x'.repeat(600))
    }
    expect(await caller.upload('x'.repeat(900))).toMatchObject(refusal('STORAGE_LIMIT_EXCEEDED'))
  })

  test('refuses a form and a part of a file instead of storing them as the file', async () => {
    const form = { 'content-type': 'multipart/form-data; boundary=x' }
    expect(await put(api(holdfast), `${at}a.txt`, 'x', form)).toMatchObject(refusal('INVALID_REQUEST'))
    const rest = { 'content-range': 'bytes 5-9/10' }
    expect(await put(api(holdfast), `${at}a.txt`, 'x', rest)).toMatchObject(refusal('INVALID_REQUEST'))
  })

  test('stores nothing of a body that breaks off', async () => {
    const caller = await newcomer(holdfast)
    const before = await holdfast.storedBlobs()
    const files = () => holdfast.database.selectFrom('files').select('id').execute()
    const count = (await files()).length
    for (const framing of [
      'Content-Length: 10\r\n\r\nhalf',
      'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    ]) {
      const connection = await openRaw(holdfast.nodeUrl)
      await connection.send(
        `PUT ${at}broken.txt HTTP/1.1\r\nHost: ${new URL(holdfast.nodeUrl).host}\r\n${framing}`,
      )
      connection.destroy()
    }
    await put(caller, `${at}whole.txt`, 'whole')
    await holdfast.runJobs()
    expect(await files()).toHaveLength(count + 1)
    expect((await holdfast.storedBlobs()).length).toBe(before.length + 1)
  })

  test('is asked for the body after it was admitted: a refusal comes instead of 100 Continue', async () => {
    const node = atNode(holdfast)
    const ask = async (headers: string) => {
      const connection = await openRaw(node.url)
      const expecting = `Host: ${new URL(node.url).host}\r\nExpect: 100-continue\r\n${headers}`
      await connection.send(`PUT ${at}a.txt HTTP/1.1\r\n${expecting}\r\n`)
      return connection
    }
    const admitted = await ask('Content-Length: 4\r\n')
    expect(await admitted.answer()).toMatchObject({ status: 100 })
    await admitted.send('four')
    expect(await admitted.answer()).toMatchObject({ status: 200 })
    admitted.destroy()
    for (const [headers, status] of [
      ['Content-Length: 1001\r\n', 413],
      ['Content-Length: 4\r\nAuthorization: Bearer hf_wrong\r\n', 401],
    ] as const) {
      const refused = await ask(headers)
      expect(await refused.answer()).toMatchObject({ status })
      refused.destroy()
    }
  })

  test('answers an Idempotency-Key with the first file, and anything else under it with 422', async () => {
    const caller = await newcomer(holdfast)
    const keyed = { 'idempotency-key': KEY }
    const first = await put(caller, `${at}a.txt`, 'once', keyed)
    expect(await put(caller, `${at}a.txt`, 'once', keyed)).toMatchObject({ status: 200, body: first.body })
    const chunked = await put(caller, `${at}a.txt`, new Blob(['once']).stream(), keyed)
    expect(chunked).toMatchObject({ status: 200, body: first.body })
    expect(await put(caller, `${at}b.txt`, 'once', keyed)).toMatchObject(refusal('IDEMPOTENCY_MISMATCH'))
    expect(await put(caller, `${at}a.txt`, 'longer', keyed)).toMatchObject(refusal('IDEMPOTENCY_MISMATCH'))
    const form = await caller.upload('once', { name: 'a.txt', headers: keyed })
    expect(form).toMatchObject({ status: 200 })
    expect(form.body).not.toMatchObject({ url: String(first.body).trim() })
  })
})

test('an Idempotency-Key of one path counts for nothing at the other, nor for a form', async () => {
  for (const caller of [await newcomer(holdfast), api(holdfast)]) {
    const keyed = { 'idempotency-key': `${KEY}-${crypto.randomUUID()}` }
    const atTop = await put(caller, '/a.txt', 'once', keyed)
    const inApi = await put(caller, '/api/v1/upload/a.txt', 'once', keyed)
    expect([atTop.status, inApi.status]).toEqual([200, 200])
    expect(inApi.body).not.toBe(atTop.body)
    expect(await put(caller, '/api/v1/upload/a.txt', 'once', keyed)).toMatchObject({ body: inApi.body })
    expect(await put(caller, '/a.txt', 'once', keyed)).toMatchObject({ body: atTop.body })
  }
})

test('a path that is a route, or has more segments, takes no upload, and other methods find nothing', async () => {
  const guest = api(holdfast)
  for (const path of ['/health', '/files', '/api/v1/upload']) {
    expect(await put(guest, path, 'x')).toMatchObject(refusal('METHOD_NOT_ALLOWED'))
  }
  for (const path of ['/a/b.txt', '/api/v1/upload/a/b.txt']) {
    expect(await put(guest, path, 'x')).toMatchObject({ status: 404 })
  }
  for (const path of ['/notes.txt', '/api/v1/upload/notes.txt']) {
    for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']) {
      expect(await guest.send(path, { method })).toMatchObject({ status: 404 })
    }
  }
  expect(await guest.send('/notes.txt', { method: 'OPTIONS' })).toMatchObject({ status: 404 })
  const preflight = await guest.send('/api/v1/upload/notes.txt', { method: 'OPTIONS' })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT')
})

test('PUT / takes what has no name, as "curl -T -" sends it, and names it by its content', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const put = (content: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    caller.send('/', { method: 'PUT', body: new Blob([content]).stream(), headers })
  const caller = await newcomer(holdfast)
  const coloured = `\u001b[32mok\u001b[0m\n${'a line\n'.repeat(100)}`
  for (const [content, name, headers] of [
    [coloured, 'text.txt'],
    ['', 'text.txt'],
    ['BMW, which is not a bitmap', 'text.txt'],
    ['{}', 'text.json', { 'content-type': 'application/json' }],
    [new Uint8Array(png), 'file.png'],
    [new Uint8Array([1, 2, 3]), 'file.bin'],
  ] as const) {
    const answer = await put(content, headers)
    expect(answer.body).toMatch(/^http:\/\/\S+\/d\/[A-Za-z0-9]{12}\n$/)
    const file = await stored(answer.body)
    expect(file.name).toContain(`filename="${name}"`)
    if (typeof content === 'string') expect(file.content).toBe(content)
  }
  const keyed = { 'idempotency-key': KEY }
  const first = await put('once', keyed)
  expect(await put('once', keyed)).toMatchObject({ status: 200, body: first.body })
  expect(await put('another', keyed)).toMatchObject(refusal('IDEMPOTENCY_MISMATCH'))
  expect(await put('x'.repeat(1001))).toMatchObject(refusal('FILE_TOO_LARGE'))
  expect(await caller.send('/', { method: 'DELETE' })).toMatchObject(refusal('METHOD_NOT_ALLOWED'))
})

test('the type comes from the name, then from what is declared, and a form’s default tells nothing', async () => {
  const caller = await newcomer(holdfast)
  const typeOf = async (name: string, type: string) => {
    const { body } = await put(caller, `/${name}`, '{}', { 'content-type': type, ...JSON_WANTED })
    const answer = await caller.get(`/api/v1/file/${Object(body).slug}`)
    return Object(answer.body).data.type
  }
  expect(await typeOf('a.json', 'text/plain')).toBe('application/json')
  expect(await typeOf('plain', 'text/css; charset=utf-8')).toBe('text/css')
  expect(await typeOf('plain', 'application/x-www-form-urlencoded')).not.toContain('urlencoded')
})
