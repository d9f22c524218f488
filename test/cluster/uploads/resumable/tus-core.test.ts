/** The core of the tus protocol: every MUST of it is a test. */
// Also on the cluster in npm test.
import { beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { chance } from '../../../support/chance.ts'
import { type Api, api, newcomer, refusal } from '../../../support/clients/api.ts'
import { readBack, sha256 } from '../../../support/clients/caller.ts'
import { CHUNK, metadata, TUS, type Tus, tus, UPLOADS } from '../../../support/clients/tus.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const random = chance(4)

let caller: Api
let client: Tus
const holdfast = await hostOfFile()
beforeAll(async () => {
  caller = await newcomer(holdfast)
  client = tus(caller)
})

describe('OPTIONS', () => {
  test('tells versions, extensions, the largest size and the checksums, whoever asks', async () => {
    const answer = await api(holdfast).send(UPLOADS, { method: 'OPTIONS' })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('tus-version')).toBe('1.0.0')
    expect(answer.headers.get('tus-resumable')).toBe('1.0.0')
    expect(answer.headers.get('tus-max-size')).toBe(String(10 * 1024 ** 3))
    expect(answer.headers.get('tus-checksum-algorithm')).toBe('sha1,sha256,crc32c')
    expect(answer.headers.get('tus-extension')?.split(',').sort()).toEqual([
      'checksum',
      'concatenation',
      'concatenation-unfinished',
      'creation',
      'creation-defer-length',
      'creation-with-upload',
      'expiration',
      'termination',
    ])
  })
})

describe('HEAD', () => {
  test('tells offset, length and metadata as they were sent, and is not to be cached', async () => {
    const { path } = await client.start(10, { filename: 'ä.txt' })
    const answer = await client.head(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('upload-offset')).toBe('0')
    expect(answer.headers.get('upload-length')).toBe('10')
    expect(answer.headers.get('upload-metadata')).toBe(`filename ${Buffer.from('ä.txt').toString('base64')}`)
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(answer.headers.get('tus-resumable')).toBe('1.0.0')
  })

  test('of an upload that nobody started is 404 without an offset', async () => {
    const answer = await client.head(`${UPLOADS}/${'0'.repeat(32)}`)
    expect(answer.status).toBe(404)
    expect(answer.headers.get('upload-offset')).toBeNull()
  })

  test('after the end tells that all is here', async () => {
    const { path } = await client.start(3)
    await client.patch(path, 0, random.bytes(3))
    expect(await client.offset(path)).toBe(3)
  })
})

describe('PATCH', () => {
  test('adds bytes at the offset, and with the last ones there is a file', async () => {
    const content = random.bytes(300_000)
    const { path, slug } = await client.start(content.length, { filename: 'a.bin' })
    let offset = 0
    for (const end of [1, 100_000, 299_999, content.length]) {
      const answer = await client.patch(path, offset, content.slice(offset, end))
      expect(answer.status).toBe(204)
      expect(answer.headers.get('upload-offset')).toBe(String(end))
      expect(answer.headers.get('tus-resumable')).toBe('1.0.0')
      expect(await client.offset(path)).toBe(end)
      offset = end
    }
    expect(await readBack(holdfast.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
    expect(await caller.get(`/api/v1/file/${slug}`)).toMatchObject({
      body: { data: { name: 'a.bin', size: content.length, sha256: sha256(content) } },
    })
  })

  test('at another offset than the upload’s is 409, and changes nothing', async () => {
    const { path } = await client.start(10)
    await client.patch(path, 0, random.bytes(4))
    for (const offset of [0, 3, 5, 10, 11]) {
      expect(await client.patch(path, offset, random.bytes(1))).toMatchObject(refusal('OFFSET_CONFLICT'))
    }
    expect(await client.offset(path)).toBe(4)
  })

  test('with another Content-Type is 415', async () => {
    const { path } = await client.start(10)
    for (const type of ['application/octet-stream', 'text/plain']) {
      const answer = await client.patch(path, 0, random.bytes(1), { 'content-type': type })
      expect(answer).toMatchObject(refusal('UNSUPPORTED_MEDIA_TYPE'))
    }
    expect(await client.offset(path)).toBe(0)
  })

  test('to an upload that nobody started is 404', async () => {
    const answer = await client.patch(`${UPLOADS}/${'0'.repeat(32)}`, 0, random.bytes(1))
    expect(answer).toMatchObject(refusal('UPLOAD_NOT_FOUND'))
  })

  test('of more than the declared length is 413, and what was there before stays', async () => {
    const { path } = await client.start(10)
    await client.patch(path, 0, random.bytes(4))
    expect(await client.patch(path, 4, random.bytes(7))).toMatchObject(refusal('PAYLOAD_TOO_LARGE'))
    expect(await client.offset(path)).toBe(4)
  })

  test('of more than the declared length is 413 also where that shows only at the end, and makes no file', async () => {
    const { path } = await client.start(10)
    const chunks = [random.bytes(10), random.bytes(1)]
    const body = new ReadableStream({
      async pull(controller) {
        const chunk = chunks.shift()
        if (chunk === undefined) return controller.close()
        controller.enqueue(chunk)
        await Bun.sleep(50)
      },
    })
    const headers = { ...TUS, ...CHUNK, 'upload-offset': '0' }
    const answer = await caller.send(path, { method: 'PATCH', headers, body })
    expect(answer).toMatchObject(refusal('PAYLOAD_TOO_LARGE'))
    expect(await client.offset(path)).toBe(0)
  })

  test('without an offset, or with one that is no number, is 400', async () => {
    const { path } = await client.start(10)
    for (const offset of ['', '-1', '1.5', 'x']) {
      const headers = { ...TUS, ...CHUNK, 'upload-offset': offset }
      const answer = await caller.send(path, { method: 'PATCH', headers, body: 'x' })
      expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
    }
    const answer = await caller.send(path, { method: 'PATCH', headers: { ...TUS, ...CHUNK }, body: 'x' })
    expect(answer).toMatchObject(refusal('INVALID_REQUEST'))
  })
})

describe('Tus-Resumable', () => {
  test('is in every answer that refuses', async () => {
    const { path } = await client.start(10)
    const stranger = { ...TUS, authorization: 'Bearer wrong' }
    const refused = [
      [401, await api(holdfast).send(UPLOADS, { method: 'POST', headers: stranger })],
      [400, await client.create({})],
      [404, await client.head(`${UPLOADS}/${'0'.repeat(32)}`)],
      [405, await caller.send(UPLOADS, { method: 'PUT', headers: TUS })],
      [405, await caller.send(path, { method: 'PUT', headers: TUS })],
      [405, await caller.send(path, { method: 'POST', headers: TUS })],
      [409, await client.patch(path, 3, random.bytes(1))],
      [412, await caller.send(path, { method: 'HEAD' })],
      [413, await client.patch(path, 0, random.bytes(11))],
      [415, await client.patch(path, 0, random.bytes(1), { 'content-type': 'text/plain' })],
      [460, await client.patch(path, 0, random.bytes(1), { 'upload-checksum': `sha1 ${SHA1_OF_NOTHING}` })],
    ] as const
    for (const [status, answer] of refused) {
      expect([answer.status, answer.headers.get('tus-resumable')]).toEqual([status, '1.0.0'])
    }
  })

  const SHA1_OF_NOTHING = '2jmj7l5rSw0yVb/vlWAYkK/YBwk='
})

const listed = z.object({ data: z.array(z.object({ name: z.string() })) })

describe('a version of the protocol that is not spoken here', () => {
  test('changes nothing', async () => {
    const { path } = await client.start(10)
    const spoken = { 'tus-resumable': '0.2.2' }
    const about = metadata({ filename: 'of-another-version' })
    expect(await client.create({ ...spoken, 'upload-length': '1', 'upload-metadata': about })).toMatchObject(
      refusal('PRECONDITION_FAILED'),
    )
    const names = listed.parse((await caller.get(UPLOADS)).body).data.map(({ name }) => name)
    expect(names).not.toContain('of-another-version')
    const patched = await client.patch(path, 0, random.bytes(5), spoken)
    expect(patched).toMatchObject(refusal('PRECONDITION_FAILED'))
    const removed = await caller.send(path, { method: 'DELETE', headers: spoken })
    expect(removed).toMatchObject(refusal('PRECONDITION_FAILED'))
    expect(await client.offset(path)).toBe(0)
  })

  test.each(['HEAD', 'PATCH', 'DELETE', 'POST'])('is 412 at %s, with the one that is', async (method) => {
    const path = method === 'POST' ? UPLOADS : (await client.start(10)).path
    for (const version of ['0.2.2', '1.0.1', null]) {
      const headers = { ...CHUNK, 'upload-offset': '0', 'upload-length': '1' }
      const answer = await caller.send(path, {
        method,
        headers: version === null ? headers : { ...headers, 'tus-resumable': version },
      })
      expect(answer.status).toBe(412)
      expect(answer.headers.get('tus-version')).toBe('1.0.0')
    }
  })
})

describe('X-HTTP-Method-Override', () => {
  test('is the method, beside POST', async () => {
    const content = random.bytes(20)
    const { path } = await client.start(content.length)
    const as = (method: string, more: Record<string, string> = {}, body?: Uint8Array<ArrayBuffer>) =>
      caller.send(path, {
        method: 'POST',
        headers: { ...TUS, 'x-http-method-override': method, ...more },
        ...(body === undefined ? {} : { body }),
      })
    const patched = await as('PATCH', { ...CHUNK, 'upload-offset': '0' }, content.slice(0, 5))
    expect(patched.status).toBe(204)
    expect((await as('HEAD')).headers.get('upload-offset')).toBe('5')
    expect((await as('DELETE')).status).toBe(204)
    expect((await client.head(path)).status).toBe(404)
    expect(await as('BREW')).toMatchObject(refusal('METHOD_NOT_ALLOWED'))
  })

  test('counts beside POST alone: by its own method a request is judged', async () => {
    const { path } = await client.start(20)
    const headers = { ...TUS, 'x-http-method-override': 'DELETE' }
    for (const method of ['GET', 'HEAD'])
      expect((await caller.send(path, { method, headers })).status).toBe(200)
    expect((await client.head(path)).headers.get('upload-offset')).toBe('0')
  })
})
