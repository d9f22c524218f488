import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { z } from 'zod'
import { stored } from '../../support/clients/answers.ts'
import { api, multipart, newcomer, refusal, TIMESTAMP } from '../../support/clients/api.ts'
import { PNG } from '../../support/contents/picture.ts'
import { startHoldfast } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const holdfast = await hostOfFile()

const sha256 = (content: string | Uint8Array) => new Bun.CryptoHasher('sha256').update(content).digest('hex')

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

  test('may have any number of other parts, before it and behind', async () => {
    const caller = await newcomer(holdfast)
    const fields = Array.from({ length: 500 }, (_, at) => ({ disposition: `name="f${at}"`, content: 'x' }))
    const file = { disposition: 'name="file"; filename="a.txt"', content: 'the file' }
    const answer = await caller.uploadParts([...fields, file, ...fields])
    expect(answer).toMatchObject({ status: 200, body: { size: 8, sha256: sha256('the file') } })
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
      received: 1,
      size: 1,
      upload_date: expect.stringMatching(TIMESTAMP),
      thumbnail_url: file.thumbnail_url,
      has_thumbnail: false,
      thumbnail: 'none',
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
