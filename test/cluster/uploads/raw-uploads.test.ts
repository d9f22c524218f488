/** Uploads byte by byte over a socket: what no well-behaved HTTP client would send. */
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { api, STATUS_OF } from '../../support/clients/api.ts'
import { eventually } from '../../support/eventually.ts'
import { openRaw, type RawConnection } from '../../support/network/raw-connection.ts'
import { onCluster } from '../../support/servers/holdfast.ts'
import { hostOfFile } from '../../support/servers/owned-host.ts'

const KB = 1024
const MB = 1024 * KB
const BOUNDARY = 'AaB03x'
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.bin"'
const HEAD = `--${BOUNDARY}\r\n${FILE}\r\n\r\n`
const END = `--${BOUNDARY}--\r\n`
const FORM = `multipart/form-data; boundary=${BOUNDARY}`
const part = (headers: string, content = 'x') => `--${BOUNDARY}\r\n${headers}\r\n\r\n${content}\r\n`
const field = (name: string) => part(`Content-Disposition: form-data; name="${name}"`)

const holdfast = await hostOfFile({ maxFileSize: 16 * MB, storageLimit: 24 * MB })

function requestHead(headers: Record<string, string | number | null>): string {
  const lines = Object.entries({ Host: new URL(holdfast.url).host, ...headers })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /api/v1/upload HTTP/1.1\r\n${lines.join('')}\r\n`
}

const httpChunk = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

const FORMS = ['with a length', 'in chunks'] as const
type Form = (typeof FORMS)[number]

/** The headers of a form of so many bytes, which may be replaced by others. */
const framing = (form: Form, length: number) => ({
  'Content-Type': FORM,
  ...(form === 'in chunks' ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': length }),
})
const framed = (form: Form, bytes: Uint8Array) => (form === 'in chunks' ? httpChunk(bytes) : bytes)
const framedEnd = (form: Form) => (form === 'in chunks' ? '0\r\n\r\n' : '')

/** Whether bytes are on their way into the store, beside those that were there before. */
async function isUnderWay(before: readonly string[]): Promise<boolean> {
  if (!onCluster) return (await holdfast.storedBlobs()).length > before.length
  // A node holds the first megabytes back until they are worth a request to S3.
  return isReserved()
}

async function isReserved(): Promise<boolean> {
  return (await holdfast.database.selectFrom('reservations').select('key').execute()).length > 0
}

async function account(key: string): Promise<{ storage_used: number; files_count: number }> {
  const shape = z.object({ data: z.object({ storage_used: z.number(), files_count: z.number() }) })
  return shape.parse((await api(holdfast, key).get('/api/v1/account')).body).data
}

async function newKey(): Promise<string> {
  return (await holdfast.addAccount()).apiKey
}

const errorBody = { success: false, message: expect.stringMatching(/./), error: expect.any(String) }
const NOTHING = { storage_used: 0, files_count: 0 }

describe('a malformed upload', () => {
  const bodies: Record<string, string> = {
    'nothing in it': '',
    'no parts': END,
    'no part called file': field('other') + END,
    'a file part without a file name': field('file') + END,
    'two file parts': part(FILE) + part(FILE) + END,
    'only garbage': 'garbage '.repeat(100),
    'garbage without end': 'garbage '.repeat(100_000),
    'the wrong boundary': (part(FILE) + END).replaceAll(BOUNDARY, 'another'),
    'no final boundary': part(FILE, 'x'.repeat(200 * KB)),
    'an end in the headers': `--${BOUNDARY}\r\n${FILE}`,
    'an end in a boundary': `${part(FILE)}--${BOUNDARY.slice(0, 3)}`,
    'headers over 16 KiB': part(`${FILE}\r\nX-Long: ${'x'.repeat(16 * KB)}`) + END,
    'headers without end': `--${BOUNDARY}\r\n${FILE}\r\nX-Long: ${'x'.repeat(800 * KB)}`,
    'a bare CR in the headers': part(`${FILE}\rX-A: b`) + END,
    'a bare LF in the headers': part(`${FILE}\nX-A: b`) + END,
    'line breaks of LF alone': (part(FILE) + END).replaceAll('\r\n', '\n'),
    'a part without headers': `--${BOUNDARY}\r\n\r\nx\r\n${END}`,
    'only a part called __proto__': part(FILE.replace('"file"', '"__proto__"')) + END,
    'a file and then broken headers': `${part(FILE, 'x'.repeat(200 * KB))}${part('nonsense')}${END}`,
  }
  const types: Record<string, string | null> = {
    'no Content-Type': null,
    'another Content-Type': 'application/octet-stream',
    'a JSON Content-Type': 'application/json',
    'no boundary': 'multipart/form-data',
    'an empty boundary': 'multipart/form-data; boundary=""',
    'a boundary of 71 characters': `multipart/form-data; boundary=${'x'.repeat(71)}`,
    'a boundary whose quotes do not close': 'multipart/form-data; boundary="AaB03x',
  }
  const cases = [
    ...Object.entries(bodies).map(([kind, body]) => ({ kind, body, type: FORM })),
    ...Object.entries(types).map(([kind, type]) => ({ kind, body: part(FILE) + END, type })),
  ]

  for (const { kind, body, type } of cases) {
    for (const form of FORMS) {
      test(`with ${kind}, sent ${form}, is refused and leaves nothing`, async () => {
        const key = await newKey()
        const before = await holdfast.storedBlobs()
        const connection = await openRaw(holdfast.url, { readsLate: true })
        await connection.send(
          requestHead({
            ...framing(form, body.length),
            Authorization: `Bearer ${key}`,
            'Content-Type': type,
          }),
        )
        const whole = Buffer.from(body, 'latin1')
        for (let at = 0; at < whole.length; at += 10_000) {
          await connection.send(framed(form, whole.subarray(at, at + 10_000)))
          await Bun.sleep(1)
        }
        await connection.send(framedEnd(form))
        const answer = await connection.answer()
        expect(answer).toEqual({ status: 400, body: { ...errorBody, error: 'INVALID_REQUEST' } })
        expect(connection.failure()).toBeNull()
        connection.destroy()
        expect(await account(key)).toMatchObject(NOTHING)
        await eventually('its bytes are gone', async () =>
          Bun.deepEquals(await holdfast.storedBlobs(), before),
        )
      })
    }
  }

  test('does not keep the next upload from being taken', async () => {
    const caller = api(holdfast, await newKey())
    const { sha256 } = await caller.put('still here')
    expect(sha256).toBe(new Bun.CryptoHasher('sha256').update('still here').digest('hex'))
    expect(await caller.get('/health')).toMatchObject({ status: 200 })
  })
})

describe('a client that goes away in the middle', () => {
  for (const form of FORMS) {
    test(`of an upload ${form} leaves nothing behind`, async () => {
      const key = await newKey()
      const before = await holdfast.storedBlobs()
      // Several times, as much together as the account may hold: what was reserved has to be free again.
      for (let round = 0; round < 3; round++) {
        const connection = await openRaw(holdfast.url)
        await connection.send(requestHead({ ...framing(form, 15 * MB), Authorization: `Bearer ${key}` }))
        const piece = Buffer.concat([Buffer.from(HEAD), Buffer.alloc(3 * MB, 'x')])
        await connection.send(framed(form, piece))
        await eventually('the upload is under way', () => isUnderWay(before))
        connection.destroy()
        // The room is given back after the bytes are gone, and the next round needs all of it.
        await eventually('the upload is gone', async () => {
          return Bun.deepEquals(await holdfast.storedBlobs(), before) && !(await isReserved())
        })
        expect(await account(key)).toMatchObject(NOTHING)
      }
      await eventually('an upload of that size is taken', async () => {
        return (await api(holdfast, key).upload(new Uint8Array(15 * MB))).status === 200
      })
      expect(await account(key)).toMatchObject({ storage_used: 15 * MB, files_count: 1 })
    })
  }

  test('of the headers of a part leaves nothing behind', async () => {
    const key = await newKey()
    const before = await holdfast.storedBlobs()
    const connection = await openRaw(holdfast.url)
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': FORM, 'Content-Length': 15 * MB }
    await connection.send(requestHead(headers) + HEAD.slice(0, 30))
    connection.destroy()
    // All of the room is free again, which a declared length had taken.
    await eventually('an upload of that size is taken', async () => {
      return (await api(holdfast, key).upload(new Uint8Array(15 * MB))).status === 200
    })
    expect((await holdfast.storedBlobs()).length).toBe(before.length + 1)
  })
})

describe('a refused upload', () => {
  interface Case {
    error: keyof typeof STATUS_OF
    headers: () => Promise<Record<string, string>>
  }
  const withKey = async () => ({ Authorization: `Bearer ${await newKey()}` })
  const cases: Record<string, Case> = {
    'an unknown key': {
      error: 'INVALID_API_KEY',
      headers: async () => ({ Authorization: 'Bearer hf_nobody' }),
    },
    'a folder without a key': {
      error: 'INVALID_API_KEY',
      headers: async () => ({ 'X-Folder-ID': 'abcdefghijklmnop' }),
    },
    'an unknown folder': {
      error: 'FOLDER_NOT_FOUND',
      headers: async () => ({ ...(await withKey()), 'X-Folder-ID': 'abcdefghijklmnop' }),
    },
    'a wrong Content-Type': {
      error: 'INVALID_REQUEST',
      headers: async () => ({ ...(await withKey()), 'Content-Type': 'text/plain' }),
    },
  }

  for (const [kind, { error, headers }] of Object.entries(cases)) {
    const expected = { status: STATUS_OF[error], body: { ...errorBody, error } }

    for (const form of FORMS) {
      test(`for ${kind}, ${form}, is answered without a reset while up to 1 MiB is sent on`, async () => {
        const length = MB - KB
        const connection = await openRaw(holdfast.url, { readsLate: true })
        await connection.send(requestHead({ ...framing(form, length), ...(await headers()) }))
        await sendSlowly(connection, form, length)
        expect(await connection.answer()).toEqual(expected)
        expect(connection.failure()).toBeNull()
        connection.destroy()
      })
    }

    test(`for ${kind} is seen by a client that sends all it has before it looks`, async () => {
      const connection = await openRaw(holdfast.url, { readsLate: true })
      const length = 20 * MB
      await connection.send(requestHead({ ...framing('with a length', length), ...(await headers()) }))
      await connection.send(HEAD)
      for (let sent = 0; sent < length - MB; sent += MB) await connection.send(Buffer.alloc(MB))
      expect(await connection.answer()).toEqual(expected)
      expect(connection.failure()).toBeNull()
      connection.destroy()
    })

    test(`for ${kind} closes the connection after the answer when more is to come`, async () => {
      const connection = await openRaw(holdfast.url)
      await connection.send(requestHead({ ...framing('with a length', 15 * MB), ...(await headers()) }))
      await connection.send(HEAD)
      expect(await connection.answer()).toEqual(expected)
      await eventually('the server closes the connection', () => connection.isClosed())
    })
  }

  test('whose client sends on without end is cut off after the answer', async () => {
    const connection = await openRaw(holdfast.url)
    const length = 10 * 1024 * MB
    await connection.send(
      requestHead({ ...framing('with a length', length), Authorization: 'Bearer hf_nobody' }),
    )
    expect(await connection.answer()).toMatchObject({ status: 401 })
    const piece = Buffer.alloc(64 * KB)
    for (let sent = 0; sent < length && !connection.isClosed(); sent += piece.length) {
      await connection.send(piece)
      // A turn of the loop, in which the socket's end is noticed.
      await Bun.sleep(0)
    }
    expect(connection.isClosed()).toBe(true)
  })
})

/** Sends so much of a form that does not end, in pieces. */
async function sendSlowly(connection: RawConnection, form: Form, length: number): Promise<void> {
  const whole = Buffer.alloc(length, 'x')
  whole.write(HEAD)
  for (let at = 0; at < length; at += 64 * KB) {
    await connection.send(framed(form, whole.subarray(at, at + 64 * KB)))
    await Bun.sleep(1)
  }
  await connection.send(framedEnd(form))
}

describe('an upload over a limit', () => {
  test.each(FORMS)(
    'of what may stand beside its file, sent %s, is refused and leaves nothing',
    async (form) => {
      const key = await newKey()
      const other = field('other').repeat(200)
      const all = Math.ceil((MB + 1) / other.length)
      for (const [before, after] of [
        [all, 0],
        [0, all],
      ] as const) {
        const blobs = await holdfast.storedBlobs()
        const body = other.repeat(before) + part(FILE, 'x'.repeat(200 * KB)) + other.repeat(after) + END
        const connection = await openRaw(holdfast.url, { readsLate: true })
        await connection.send(requestHead({ ...framing(form, body.length), Authorization: `Bearer ${key}` }))
        await connection.send(framed(form, Buffer.from(body)))
        await connection.send(framedEnd(form))
        expect(await connection.answer()).toEqual({
          status: 413,
          body: { ...errorBody, error: 'PAYLOAD_TOO_LARGE' },
        })
        connection.destroy()
        expect(await account(key)).toMatchObject(NOTHING)
        await eventually('its bytes are gone', async () =>
          Bun.deepEquals(await holdfast.storedBlobs(), blobs),
        )
      }
    },
  )

  test('by its declared length is refused before its body, and the connection closed', async () => {
    const connection = await openRaw(holdfast.url)
    const before = await holdfast.storedBlobs()
    await connection.send(
      requestHead({
        Authorization: `Bearer ${await newKey()}`,
        'Content-Type': FORM,
        'Content-Length': 20 * MB,
      }),
    )
    expect(await connection.answer()).toEqual({
      status: 413,
      body: { ...errorBody, error: 'FILE_TOO_LARGE' },
    })
    expect(await holdfast.storedBlobs()).toEqual(before)
    await eventually('the server closes the connection', () => connection.isClosed())
  })

  test('by its declared length gets its answer without a reset while it sends up to 1 MiB on', async () => {
    const key = await newKey()
    await api(holdfast, key).put(new Uint8Array(12 * MB))
    await api(holdfast, key).put(new Uint8Array(12 * MB - 100 * KB))
    const connection = await openRaw(holdfast.url, { readsLate: true })
    const length = MB - KB
    await connection.send(
      requestHead({ ...framing('with a length', length), Authorization: `Bearer ${key}` }),
    )
    await sendSlowly(connection, 'with a length', length)
    expect(await connection.answer()).toEqual({
      status: 413,
      body: { ...errorBody, error: 'STORAGE_LIMIT_EXCEEDED' },
    })
    expect(connection.failure()).toBeNull()
    connection.destroy()
  })

  test('without a declared length is refused on the way and leaves nothing', async () => {
    const key = await newKey()
    const before = await holdfast.storedBlobs()
    const connection = await openRaw(holdfast.url)
    await connection.send(
      requestHead({ Authorization: `Bearer ${key}`, 'Content-Type': FORM, 'Transfer-Encoding': 'chunked' }),
    )
    await connection.send(httpChunk(Buffer.from(HEAD)))
    const piece = httpChunk(Buffer.alloc(64 * KB, 'x'))
    for (let sent = 0; sent < 17 * MB; sent += 64 * KB) await connection.send(piece)
    expect(await connection.answer()).toEqual({
      status: 413,
      body: { ...errorBody, error: 'FILE_TOO_LARGE' },
    })
    connection.destroy()
    await eventually('its bytes are gone', async () => Bun.deepEquals(await holdfast.storedBlobs(), before))
    expect(await account(key)).toMatchObject(NOTHING)
  })
})

describe('an upload as HTTP allows it', () => {
  const content = 'a\r\n--AaB03\r\n--AaB03'
  const sha256 = new Bun.CryptoHasher('sha256').update(content).digest('hex')
  const body = Buffer.from(`${HEAD}${content}\r\n${END}`)
  const taken = { success: true, size: content.length, sha256 }

  test('may come in chunks of one byte', async () => {
    const connection = await openRaw(holdfast.url)
    await connection.send(requestHead({ 'Content-Type': FORM, 'Transfer-Encoding': 'chunked' }))
    for (const byte of body) await connection.send(httpChunk(Buffer.of(byte)))
    await connection.send('0\r\n\r\n')
    expect(await connection.answer()).toMatchObject({ status: 200, body: taken })
    connection.destroy()
  })

  test('may come in single bytes of a declared length', async () => {
    const connection = await openRaw(holdfast.url)
    await connection.send(requestHead({ 'Content-Type': FORM, 'Content-Length': body.length }))
    for (const byte of body) {
      await connection.send(Buffer.of(byte))
      await Bun.sleep(0)
    }
    expect(await connection.answer()).toMatchObject({ status: 200, body: taken })
    connection.destroy()
  })

  test('may be followed by another on the same connection', async () => {
    const connection = await openRaw(holdfast.url)
    for (let round = 0; round < 3; round++) {
      await connection.send(requestHead({ 'Content-Type': FORM, 'Content-Length': body.length }))
      await connection.send(body)
      expect(await connection.answer()).toMatchObject({ status: 200, body: taken })
    }
    connection.destroy()
  })

  test('may wait for 100 Continue', async () => {
    const connection = await openRaw(holdfast.url)
    const headers = { 'Content-Type': FORM, 'Content-Length': body.length, Expect: '100-continue' }
    await connection.send(requestHead(headers))
    expect(await connection.answer()).toMatchObject({ status: 100 })
    await connection.send(body)
    expect(await connection.answer()).toMatchObject({ status: 200, body: taken })
    connection.destroy()
  })

  test('that waits for 100 Continue and is refused gets its answer without sending a body', async () => {
    const connection = await openRaw(holdfast.url)
    await connection.send(
      requestHead({
        Authorization: 'Bearer hf_nobody',
        'Content-Type': FORM,
        'Content-Length': 100 * KB,
        Expect: '100-continue',
      }),
    )
    const first = await connection.answer()
    const final = first.status === 100 ? await connection.answer() : first
    expect(final).toEqual({ status: 401, body: { ...errorBody, error: 'INVALID_API_KEY' } })
    connection.destroy()
  })
})
