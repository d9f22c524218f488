import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { z } from 'zod'
import { type Api, api, multipart, newcomer, refusal, TIMESTAMP } from '../support/api.ts'
import { startHoldfast, type TestHoldfast } from '../support/holdfast.ts'

let holdfast: TestHoldfast
beforeAll(async () => {
  holdfast = await startHoldfast()
})
afterAll(() => holdfast.stop())

const sha256 = (content: string | Uint8Array) => new Bun.CryptoHasher('sha256').update(content).digest('hex')
const detailShape = z.object({ data: z.object({ name: z.string(), type: z.string() }) })
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Name and type of a file as its owner is told them. */
async function detail(caller: Api, id: string | number) {
  return detailShape.parse((await caller.get(`/api/v1/file/${id}`)).body).data
}

/** The name under which a file uploaded with this Content-Disposition is kept. */
async function nameFor(disposition: string): Promise<string> {
  const caller = await newcomer(holdfast)
  const answer = await caller.uploadParts([{ disposition: `name="file"; ${disposition}`, content: 'x' }])
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
  return (await detail(caller, z.object({ slug: z.string() }).parse(answer.body).slug)).name
}

/** The type of a file with this name, declared type and content. */
async function typeFor(name: string, type?: string, content: string | Uint8Array = 'just some words') {
  const caller = await newcomer(holdfast)
  const { slug } = await caller.put(content, type === undefined ? { name } : { name, type })
  return (await detail(caller, slug)).type
}

/** What is stored in the caller's account. */
async function stored(caller: Api) {
  const shape = z.object({ data: z.object({ storage_used: z.number(), files_count: z.number() }) })
  return shape.parse((await caller.get('/api/v1/account')).body).data
}

describe('the answer to an upload', () => {
  test('carries everything about the new file', async () => {
    const caller = await newcomer(holdfast)
    const { status, body } = await caller.upload('hello', { name: 'hello.txt' })
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      message: expect.stringMatching(/./),
      slug: expect.stringMatching(/^[A-Za-z][A-Za-z0-9]{11}$/),
      url: expect.stringMatching(/\/d\/[A-Za-z0-9]{12}$/),
      file_id: expect.any(Number),
      thumbnail_url: expect.stringMatching(/^\/t\/[0-9a-f-]{36}$/),
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      size: 5,
      sha256: sha256('hello'),
    })
  })

  test('gives a link made of the public address and the slug, and a thumbnail made of the UUID', async () => {
    const file = await (await newcomer(holdfast)).put('hello')
    expect(file.url).toBe(`${holdfast.url}/d/${file.slug}`)
    expect(file.thumbnail_url).toBe(`/t/${file.uuid}`)
  })

  test('builds the link from the public address, whatever the Host headers say', async () => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
    }
    const file = await (await newcomer(holdfast)).put('hello', { headers })
    expect(file.url).toStartWith(`${holdfast.url}/d/`)
  })

  test('gives a link at the configured public address', async () => {
    const own = await startHoldfast({ publicUrl: 'https://files.example.org' })
    try {
      const file = await (await newcomer(own)).put('hello')
      expect(file.url).toBe(`https://files.example.org/d/${file.slug}`)
    } finally {
      await own.stop()
    }
  })

  test('has ids that start from 1 at the earliest and grow', async () => {
    const caller = await newcomer(holdfast)
    const first = await caller.put('one')
    const second = await caller.put('two')
    expect(first.file_id).toBeGreaterThanOrEqual(1)
    expect(Number.isInteger(first.file_id)).toBe(true)
    expect(second.file_id).toBeGreaterThan(first.file_id)
  })

  test('never repeats a slug or a UUID, also for equal content and name', async () => {
    const caller = await newcomer(holdfast)
    const files = await Promise.all(
      Array.from({ length: 20 }, () => caller.put('same', { name: 'same.txt' })),
    )
    expect(new Set(files.map((file) => file.slug)).size).toBe(20)
    expect(new Set(files.map((file) => file.uuid)).size).toBe(20)
  })

  test('names a thumbnail address that answers an image for a picture and for anything else', async () => {
    const caller = await newcomer(holdfast)
    for (const file of [
      await caller.put(PNG, { name: 'dot.png' }),
      await caller.put('x', { name: 'x.bin' }),
    ]) {
      const response = await fetch(holdfast.url + file.thumbnail_url)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toStartWith('image/')
      await response.body?.cancel()
    }
  })
})

describe('what is uploaded', () => {
  test('comes back byte for byte, with a length or without one', async () => {
    const caller = await newcomer(holdfast)
    const content = crypto.getRandomValues(new Uint8Array(60_000))
    for (const chunked of [false, true]) {
      const file = await caller.put(content, { chunked })
      expect(file).toMatchObject({ size: content.length, sha256: sha256(content) })
      const download = await fetch(`${file.url}?download=1`)
      expect(sha256(await download.bytes())).toBe(sha256(content))
    }
  })

  test('may be empty', async () => {
    const caller = await newcomer(holdfast)
    expect(await caller.put('', { name: 'empty.txt' })).toMatchObject({ size: 0, sha256: sha256('') })
    expect(await stored(caller)).toEqual({ storage_used: 0, files_count: 1 })
  })

  test('may have other parts around it, which are ignored', async () => {
    const caller = await newcomer(holdfast)
    const answer = await caller.uploadParts([
      { disposition: 'name="note"', content: 'before' },
      { disposition: 'name="file"; filename="a.txt"', content: 'the file' },
      { disposition: 'name="attachment"; filename="b.txt"', content: 'another' },
    ])
    expect(answer).toMatchObject({ status: 200, body: { size: 8, sha256: sha256('the file') } })
    expect(await stored(caller)).toEqual({ storage_used: 8, files_count: 1 })
  })

  test('is refused when there are two files, and neither stays', async () => {
    const caller = await newcomer(holdfast)
    const answer = await caller.uploadParts([
      { disposition: 'name="file"; filename="a.txt"', content: 'one' },
      { disposition: 'name="file"; filename="b.txt"', content: 'two' },
    ])
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(await stored(caller)).toEqual({ storage_used: 0, files_count: 0 })
  })

  test('is refused without a part named file, and the message names it', async () => {
    const caller = await newcomer(holdfast)
    const lists = [
      [{ disposition: 'name="upload"; filename="a.txt"', content: 'x' }],
      [{ disposition: 'name="note"', content: 'x' }],
    ]
    for (const parts of lists) {
      const answer = await caller.uploadParts(parts)
      expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
      expect(answer.body).toMatchObject({ message: expect.stringContaining('file') })
    }
  })

  test('is refused without any part', async () => {
    expect(await (await newcomer(holdfast)).uploadParts([])).toMatchObject(refusal('INVALID_REQUEST'))
  })

  test('is refused when the part named file has no file name', async () => {
    const answer = await (await newcomer(holdfast)).uploadParts([
      { disposition: 'name="file"', content: 'x' },
    ])
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
  })

  test.each([
    'application/json',
    'application/octet-stream',
    'multipart/form-data',
    'multipart/mixed; boundary=x',
  ])('is refused when the body is declared as %s', async (type) => {
    const answer = await (await newcomer(holdfast)).send('/api/v1/upload', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': type },
    })
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
  })

  test('is refused when the body ends before the last boundary, and nothing stays', async () => {
    const caller = await newcomer(holdfast)
    const { type, body } = multipart([
      { disposition: 'name="file"; filename="a"', content: 'x'.repeat(5000) },
    ])
    const answer = await caller.send('/api/v1/upload', {
      method: 'POST',
      body: body.subarray(0, 3000),
      headers: { 'content-type': type },
    })
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(await stored(caller)).toEqual({ storage_used: 0, files_count: 0 })
  })
})

describe('the name of an upload', () => {
  test.each([
    ['is read as raw UTF-8', 'filename="отчёт 報告 دليل.txt"', 'отчёт 報告 دليل.txt'],
    ['is read from filename*', "filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt", 'naïve €.txt'],
    [
      'is read from filename* before filename',
      `filename="plain.txt"; filename*=UTF-8''%E5%AF%8C.txt`,
      '富.txt',
    ],
    ['is read from filename* in ISO-8859-1 too', "filename*=ISO-8859-1''%A3.txt", '£.txt'],
    ['may stand without quotes', 'filename=plain.txt', 'plain.txt'],
    ['may hold a semicolon in quotes', 'filename="a;b=c.txt"', 'a;b=c.txt'],
    ['loses its folders', 'filename="../../etc/passwd.txt"', 'passwd.txt'],
    ["loses another system's folders", "filename*=UTF-8''C%3A%5CUsers%5Cme%5Cfilm.mkv", 'film.mkv'],
    ['is composed', "filename*=UTF-8''e%CC%81.txt", 'é.txt'],
    ['loses control characters', "filename*=UTF-8''a%00b%07c%0D%0Ad%7F%C2%85.txt", 'abcd.txt'],
    ['loses bidirectional characters', "filename*=UTF-8''photo%E2%80%AEgpj.exe", 'photogpj.exe'],
    [
      'loses every kind of bidirectional character',
      `filename*=UTF-8''${encodeURIComponent(
        'a\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069.txt',
      )}`,
      'a.txt',
    ],
    ['keeps joiners that emoji are made of', 'filename="👩‍👩‍👧.png"', '👩‍👩‍👧.png'],
    ['is unnamed when nothing is left', "filename*=UTF-8''%01%02%E2%80%AE", 'unnamed'],
    ['is unnamed when only a folder is given', 'filename="folder/"', 'unnamed'],
    ['may look like an object property', 'filename="__proto__"', '__proto__'],
  ])('%s', async (_, disposition, name) => {
    expect(await nameFor(disposition)).toBe(name)
  })

  test('of 255 bytes stays as it is', async () => {
    const name = `${'x'.repeat(251)}.txt`
    expect(await nameFor(`filename="${name}"`)).toBe(name)
  })

  test('of more than 255 bytes is cut between characters, and keeps its extension', async () => {
    expect(await nameFor(`filename="${'x'.repeat(300)}.txt"`)).toBe(`${'x'.repeat(251)}.txt`)
    expect(await nameFor(`filename="${'é'.repeat(200)}.txt"`)).toBe(`${'é'.repeat(125)}.txt`)
    expect(await nameFor(`filename="${'😀'.repeat(100)}.jpeg"`)).toBe(`${'😀'.repeat(62)}.jpeg`)
    expect(await nameFor(`filename="${'漢'.repeat(255)}"`)).toBe('漢'.repeat(85))
  })

  test('with an extension too long to keep still has at most 255 bytes', async () => {
    const name = await nameFor(`filename="a.${'x'.repeat(400)}"`)
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    expect(name).toStartWith('a.x')
  })

  test('need not be unique', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('twins')
    await caller.put('one', { name: 'twin.txt', folder })
    await caller.put('two', { name: 'twin.txt', folder })
    expect((await stored(caller)).files_count).toBe(2)
  })
})

describe('the type of an upload', () => {
  test('comes from the extension of the name first', async () => {
    expect(await typeFor('notes.txt', 'image/png', PNG)).toBe('text/plain')
    expect(await typeFor('PHOTO.JPG', 'application/octet-stream')).toBe('image/jpeg')
    expect(await typeFor('archive.tar.gz')).toBe('application/gzip')
  })

  test('comes from the declared type when the extension is unknown', async () => {
    expect(await typeFor('data.unknownextension', 'application/x-holdfast', PNG)).toBe(
      'application/x-holdfast',
    )
    expect(await typeFor('README', 'text/markdown')).toBe('text/markdown')
  })

  test('comes from the first bytes when the declared type says nothing', async () => {
    expect(await typeFor('picture', 'application/octet-stream', PNG)).toBe('image/png')
    expect(await typeFor('picture.unknownextension', undefined, PNG)).toBe('image/png')
  })

  test('is application/octet-stream when nothing tells it', async () => {
    expect(await typeFor('mystery')).toBe('application/octet-stream')
    expect(await typeFor('mystery', 'application/octet-stream')).toBe('application/octet-stream')
    expect(await typeFor('mystery', undefined, '')).toBe('application/octet-stream')
  })

  test('is never a declared text that is not a type', async () => {
    expect(await typeFor('mystery', 'not a type <script>')).toBe('application/octet-stream')
  })
})

describe('an upload into a folder', () => {
  test('puts the file there', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('inbox')
    const file = await caller.put('x', { folder })
    const { body } = await caller.get(`/api/v1/folder/${folder}/files`)
    expect(body).toMatchObject({ data: [{ id: file.file_id }] })
  })

  test.each(['root', ''])('named "%s" puts the file at the top level', async (folder) => {
    const caller = await newcomer(holdfast)
    const file = await caller.put('x', { folder })
    const { body } = await caller.get('/api/v1/files?folder=root')
    expect(body).toMatchObject({ data: [{ id: file.file_id, folder_id: 'root' }] })
  })

  test('that does not exist or is not the caller’s is refused in the same way, and nothing stays', async () => {
    const caller = await newcomer(holdfast)
    const foreign = await (await newcomer(holdfast)).folder('foreign')
    for (const folder of ['a'.repeat(16), foreign, '../../x', '1']) {
      expect(await caller.upload('x', { folder })).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    }
    expect(await stored(caller)).toEqual({ storage_used: 0, files_count: 0 })
  })

  test('that was deleted is refused', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('gone')
    await caller.post('/folder/delete', { identifiers: [folder] })
    expect(await caller.upload('x', { folder })).toMatchObject(refusal('FOLDER_NOT_FOUND'))
  })

  test('needs a key', async () => {
    const folder = await (await newcomer(holdfast)).folder('mine')
    expect(await api(holdfast).upload('x', { folder })).toMatchObject(refusal('INVALID_API_KEY'))
  })
})

describe('an upload is refused before its body is read', () => {
  /** The status and body of the answer to a head after which no byte of the body ever comes. */
  function answerToHead(headers: Record<string, string>): Promise<string> {
    const { port, hostname } = new URL(holdfast.url)
    const lines = Object.entries({
      host: hostname,
      'content-type': 'multipart/form-data; boundary=b',
      ...headers,
    })
    const head = ['POST /api/v1/upload HTTP/1.1', ...lines.map(([name, value]) => `${name}: ${value}`)]
    return new Promise((done, fail) => {
      let text = ''
      const socket = connect(Number(port), hostname, () => socket.write(`${head.join('\r\n')}\r\n\r\n`))
      socket.on('data', (chunk) => {
        text += chunk.toString()
        if (text.includes('}')) {
          socket.destroy()
          done(text)
        }
      })
      socket.on('error', fail)
      socket.on('close', () => done(text))
    })
  }

  test('when the key is not one', async () => {
    const answer = await answerToHead({ authorization: 'Bearer hf_nothing', 'content-length': '100000' })
    expect(answer).toStartWith('HTTP/1.1 401')
    expect(answer).toContain('INVALID_API_KEY')
  })

  test('when the folder does not exist', async () => {
    const { apiKey } = await holdfast.addAccount()
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'x-folder-id': 'a'.repeat(16),
      'content-length': '100000',
    }
    expect(await answerToHead(headers)).toContain('FOLDER_NOT_FOUND')
  })

  test('when the declared length is over the limit of a file', async () => {
    const { apiKey } = await holdfast.addAccount()
    const headers = { authorization: `Bearer ${apiKey}`, 'content-length': String(11 * 1024 ** 3) }
    const answer = await answerToHead(headers)
    expect(answer).toStartWith('HTTP/1.1 413')
    expect(answer).toContain('FILE_TOO_LARGE')
  })
})

describe('the status of an upload', () => {
  test('is completed once the upload was answered', async () => {
    const caller = await newcomer(holdfast)
    const file = await caller.put('x')
    const answer = await caller.get(`/api/v1/upload/status?slug=${file.slug}`)
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toEqual({
      slug: file.slug,
      status: 'completed',
      upload_date: expect.stringMatching(TIMESTAMP),
      thumbnail_url: file.thumbnail_url,
    })
  })

  test('is dated as the file is', async () => {
    const caller = await newcomer(holdfast)
    const { slug } = await caller.put('x')
    const shape = z.object({ data: z.object({ created_at: z.string() }) })
    const { created_at } = shape.parse((await caller.get(`/api/v1/file/${slug}`)).body).data
    const { body } = await caller.get(`/api/v1/upload/status?slug=${slug}`)
    expect(body).toMatchObject({ upload_date: created_at })
  })

  test('of an unknown, a deleted and another account’s slug is not found', async () => {
    const caller = await newcomer(holdfast)
    const gone = (await caller.put('x')).slug
    await caller.post('/file/delete', { identifiers: [gone] })
    const foreign = (await (await newcomer(holdfast)).put('x')).slug
    const guest = (await api(holdfast).put('x')).slug
    for (const slug of ['Abcdefghijkl', gone, foreign, guest]) {
      expect(await caller.get(`/api/v1/upload/status?slug=${slug}`)).toMatchObject({ status: 404 })
    }
  })

  test('is refused without a slug, and the message names it', async () => {
    const answer = await (await newcomer(holdfast)).get('/api/v1/upload/status')
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    expect(answer.body).toMatchObject({ message: expect.stringContaining('slug') })
  })
})
