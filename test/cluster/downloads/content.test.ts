import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { runsOf } from '../../support/cases.ts'
import {
  api,
  type Bytes,
  GENEROUS,
  type Headers,
  randomBytes,
  signedAddress,
  textBytes,
  upload,
  visit,
} from '../../support/clients/public.ts'
import { slowReader } from '../../support/network/slow-reader.ts'
import { startHoldfast, type TestHoldfast } from '../../support/servers/holdfast.ts'

const SIZE = 3001
const bytes: Bytes = randomBytes(SIZE)

let host: TestHoldfast
let key: string
let address: string
let etag: string
let modified: string

beforeAll(async () => {
  host = await startHoldfast(GENEROUS)
  key = (await host.addAccount('owner')).apiKey
  address = await signedAddress(host, await upload(host, { key, name: 'noise.png', bytes }), 'view')
  const { headers } = await visit(host, address, { method: 'HEAD' })
  etag = headers.get('etag') ?? ''
  modified = headers.get('last-modified') ?? ''
})

afterAll(async () => {
  await host.stop()
})

function get(headers: Headers = {}, method = 'GET'): Promise<Response> {
  return visit(host, address, { method, headers })
}

async function digest(content: Bytes): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', content)
  return `sha-256=:${Buffer.from(hash).toString('base64')}:`
}

const script = textBytes('<script>alert(1)</script>')

/** The address of a fresh file with that name, which may be one that no form carries unchanged. */
async function named(name: string, mode: 'download' | 'view'): Promise<string> {
  const file = await upload(host, { key, name, bytes: script })
  const renamed = await api(host, key, 'PATCH', `/api/v1/file/${file.slug}`, { name })
  expect(renamed.status).toBe(200)
  return signedAddress(host, file, mode)
}

async function expectWhole(response: Response): Promise<void> {
  expect(response.status).toBe(200)
  expect(response.headers.get('content-range')).toBeNull()
  expect(response.headers.get('content-length')).toBe(String(SIZE))
  expect(await response.bytes()).toEqual(bytes)
}

async function expectSlice(response: Response, start: number, end: number): Promise<void> {
  expect(response.status).toBe(206)
  expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${SIZE}`)
  expect(response.headers.get('content-length')).toBe(String(end - start))
  expect(await response.bytes()).toEqual(bytes.slice(start, end))
}

describe('the whole content', () => {
  test('comes with its length, type, validators and digest', async () => {
    const response = await get()
    expect(response.headers.get('content-type')).toBe('image/png')
    expect(response.headers.get('accept-ranges')).toBe('bytes')
    expect(response.headers.get('etag')).toMatch(/^"[\x21\x23-\x7e]+"$/)
    expect(new Date(modified).toUTCString()).toBe(modified)
    expect(new Date(modified).getTime()).toBeLessThanOrEqual(host.clock.now())
    expect(response.headers.get('repr-digest')).toBe(await digest(bytes))
    await expectWhole(response)
  })

  test('comes with its length however large it is', async () => {
    const large = randomBytes(2 * 1024 * 1024)
    const content = await signedAddress(host, await upload(host, { key, name: 'large.bin', bytes: large }))
    const [whole, part] = [
      await visit(host, content),
      await visit(host, content, { headers: { range: 'bytes=1-' } }),
    ]
    expect(whole.headers.get('content-length')).toBe(String(large.length))
    expect(part.headers.get('content-length')).toBe(String(large.length - 1))
    expect(Buffer.from(await whole.bytes()).equals(large)).toBe(true)
    expect(Buffer.from(await part.bytes()).equals(large.subarray(1))).toBe(true)
  })

  test('is kept to the one who asked and cannot act as a page of ours', async () => {
    const { headers } = await get()
    expect(headers.get('cache-control')).toContain('private')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
  })

  test('has an entity tag made from the content alone', async () => {
    const twin = await upload(host, { key, name: 'twin.txt', bytes })
    const other = await upload(host, { key, name: 'noise.png', bytes: randomBytes(SIZE) })
    const twinTag = (await visit(host, await signedAddress(host, twin))).headers.get('etag')
    const otherTag = (await visit(host, await signedAddress(host, other))).headers.get('etag')
    expect(twinTag).toBe(etag)
    expect(otherTag).not.toBe(etag)
  })

  test('is described by HEAD with the same headers and no body', async () => {
    const [full, head] = [await get(), await get({}, 'HEAD')]
    expect(head.status).toBe(200)
    expect(await head.text()).toBe('')
    const same = [
      'content-length',
      'content-type',
      'content-disposition',
      'content-security-policy',
      'etag',
      'last-modified',
      'repr-digest',
      'accept-ranges',
      'cache-control',
      'x-content-type-options',
    ]
    for (const name of same) expect([name, head.headers.get(name)]).toEqual([name, full.headers.get(name)])
  })

  test('of an empty file is empty, and no range of it can be had', async () => {
    const empty = await signedAddress(host, await upload(host, { key, bytes: new Uint8Array(0) }))
    const response = await visit(host, empty)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-length')).toBe('0')
    expect(await response.text()).toBe('')
    const range = await visit(host, empty, { headers: { range: 'bytes=0-' } })
    expect(range.status).toBe(416)
    expect(range.headers.get('content-range')).toBe('bytes */0')
  })

  test('survives a client that goes away in the middle', async () => {
    const large = randomBytes(8 * 1024 * 1024)
    const big = await signedAddress(host, await upload(host, { key, bytes: large }))
    const leaving = new AbortController()
    const response = await visit(host, big, { signal: leaving.signal })
    await response.body?.getReader().read()
    leaving.abort()
    const again = await visit(host, big, { headers: { range: 'bytes=-1000' } })
    expect(await again.bytes()).toEqual(large.slice(-1000))
  })
})

describe('a range', () => {
  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=0-', 0, SIZE],
    ['bytes=10-19', 10, 20],
    ['bytes=2990-', 2990, SIZE],
    ['bytes=3000-3000', 3000, SIZE],
    ['bytes=10-999999', 10, SIZE],
    ['bytes=-1', SIZE - 1, SIZE],
    ['bytes=-500', SIZE - 500, SIZE],
    ['bytes=-999999', 0, SIZE],
  ])('%s is the slice from %d to %d', async (range, start, end) => {
    const response = await get({ range })
    for (const name of ['etag', 'last-modified', 'accept-ranges', 'content-security-policy']) {
      expect(response.headers.get(name)).toBeString()
    }
    expect(response.headers.get('cache-control')).toContain('private')
    expect(response.headers.get('repr-digest')).toBe(await digest(bytes))
    await expectSlice(response, start, end)
  })

  test.each(['bytes=3001-', 'bytes=3001-3005', 'bytes=99999999999999999999-', 'bytes=-0'])(
    '%s cannot be satisfied and brings none of the file',
    async (range) => {
      const response = await get({ range })
      expect(response.status).toBe(416)
      expect(response.headers.get('content-range')).toBe(`bytes */${SIZE}`)
      expect(response.headers.get('content-type')).not.toBe('image/png')
      const body = Buffer.from(await response.bytes())
      expect(body.includes(bytes.slice(-16))).toBe(false)
      expect(body.length).toBeLessThan(SIZE)
    },
  )

  test.each(['bytes=0-1,5-9', 'bytes=0-0, -1', 'bytes=0-,0-,0-'])(
    'list %s is answered whole',
    async (range) => {
      await expectWhole(await get({ range }))
    },
  )

  test.each([
    'bytes=9-5',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes',
    'lines=0-1',
    '0-1',
    'bytes=1-2x',
    'bytes=0x0-1',
  ])('%p says nothing and is ignored', async (range) => {
    await expectWhole(await get({ range }))
  })

  test('is ignored with HEAD, as RFC 9110 asks', async () => {
    const response = await get({ range: 'bytes=0-9' }, 'HEAD')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-length')).toBe(String(SIZE))
    expect(response.headers.get('content-range')).toBeNull()
  })

  test('of any shape equals the slice of the file', async () => {
    const edge = fc.integer({ min: 0, max: SIZE + 50 })
    const range = fc.oneof(
      fc
        .tuple(edge, edge)
        .map(([first, last]) => ({ header: `bytes=${first}-${last}`, first, end: last + 1 })),
      edge.map((first) => ({ header: `bytes=${first}-`, first, end: SIZE })),
      fc.integer({ min: 1, max: SIZE + 50 }).map((count) => ({
        header: `bytes=-${count}`,
        first: Math.max(0, SIZE - count),
        end: SIZE,
      })),
    )
    await fc.assert(
      fc.asyncProperty(range, async ({ header, first, end }) => {
        const response = await get({ range: header })
        const reversed = /^bytes=\d+-\d+$/.test(header) && end <= first
        // A range that makes no sense may be ignored or refused (RFC 9110 §14.2).
        if (reversed && response.status !== 416) return expectWhole(response)
        if (first < SIZE && !reversed) return expectSlice(response, first, Math.min(end, SIZE))
        expect(response.status).toBe(416)
        expect(response.headers.get('content-range')).toBe(`bytes */${SIZE}`)
        await response.bytes()
      }),
      { numRuns: runsOf(150) },
    )
  })

  test('pieces put together are the file', async () => {
    const cuts = [0, 1, 700, 701, 2048, SIZE]
    const pieces: Uint8Array[] = []
    for (const [at, start] of cuts.slice(0, -1).entries()) {
      const response = await get({ range: `bytes=${start}-${(cuts[at + 1] ?? SIZE) - 1}`, 'if-range': etag })
      expect(response.status).toBe(206)
      pieces.push(await response.bytes())
    }
    expect(new Uint8Array(Buffer.concat(pieces))).toEqual(bytes)
  })
})

describe('a conditional request', () => {
  const before = 'Mon, 01 Jan 2001 00:00:00 GMT'

  async function expectNotModified(response: Response): Promise<void> {
    expect(response.status).toBe(304)
    expect(response.headers.get('etag')).toBe(etag)
    expect(response.headers.get('cache-control')).toContain('private')
    expect(await response.text()).toBe('')
  }

  test('with If-None-Match of the tag is 304, in a list, weak, with * and with HEAD too', async () => {
    for (const tags of [etag, `"x", ${etag}`, `W/${etag}`, `"a",W/${etag},"b"`, '*']) {
      await expectNotModified(await get({ 'if-none-match': tags }))
      await expectNotModified(await get({ 'if-none-match': tags }, 'HEAD'))
    }
  })

  test('with If-None-Match of another tag is answered whole, whatever If-Modified-Since says', async () => {
    await expectWhole(await get({ 'if-none-match': '"x"' }))
    await expectWhole(await get({ 'if-none-match': '"x"', 'if-modified-since': modified }))
    await expectWhole(await get({ 'if-none-match': etag.replaceAll('"', '') }))
  })

  test('with If-None-Match of the tag is 304 also for a range', async () => {
    await expectNotModified(await get({ 'if-none-match': etag, range: 'bytes=0-9' }))
  })

  test('with If-Modified-Since is 304 from the time of the file on', async () => {
    await expectNotModified(await get({ 'if-modified-since': modified }))
    const later = new Date(new Date(modified).getTime() + 1000).toUTCString()
    await expectNotModified(await get({ 'if-modified-since': later }))
    await expectWhole(await get({ 'if-modified-since': before }))
    await expectWhole(await get({ 'if-modified-since': 'yesterday' }))
  })

  test('with If-Match goes on only where the tag is the file’s', async () => {
    await expectWhole(await get({ 'if-match': etag }))
    await expectWhole(await get({ 'if-match': `"x", ${etag}` }))
    await expectWhole(await get({ 'if-match': '*' }))
    await expectSlice(await get({ 'if-match': etag, range: 'bytes=5-9' }), 5, 10)
    for (const tags of ['"x"', `W/${etag}`]) {
      const response = await get({ 'if-match': tags })
      expect(response.status).toBe(412)
      expect((await response.bytes()).length).toBeLessThan(SIZE)
    }
  })

  test('with If-Match of another tag fails before the range is looked at', async () => {
    expect((await get({ 'if-match': '"x"', range: 'bytes=5-9' })).status).toBe(412)
    expect((await get({ 'if-match': '"x"', range: 'bytes=9999-' })).status).toBe(412)
  })

  test('with If-Range gives the range only of the same file', async () => {
    const range = 'bytes=5-9'
    await expectSlice(await get({ range, 'if-range': etag }), 5, 10)
    await expectSlice(await get({ range, 'if-range': modified }), 5, 10)
    await expectWhole(await get({ range, 'if-range': '"x"' }))
    await expectWhole(await get({ range, 'if-range': `W/${etag}` }))
    await expectWhole(await get({ range, 'if-range': before }))
    await expectWhole(await get({ range: 'bytes=9999-', 'if-range': '"x"' }))
  })
})

describe('Content-Disposition', () => {
  function names(header: string | null): { ascii: string; utf8: string } {
    const ascii = /filename="((?:[^"\\]|\\.)*)"/.exec(header ?? '')?.[1] ?? ''
    const utf8 = /filename\*=UTF-8''([^;\s]+)/i.exec(header ?? '')?.[1] ?? ''
    return { ascii: ascii.replace(/\\(.)/g, '$1'), utf8: decodeURIComponent(utf8) }
  }

  test.each([
    'plain.txt',
    'naïve résumé.txt',
    '日本語.txt',
    'emoji 🦄.bin',
    `quotes ' and ".txt`,
    'semi;colon=1, comma.txt',
    '100%25.txt',
    "star*(1)'.txt",
  ])('carries the name %p in ASCII and in UTF-8', async (name) => {
    const response = await visit(host, await named(name, 'download'))
    const header = response.headers.get('content-disposition')
    expect(header).toMatch(/^attachment;/)
    expect(header).toMatch(/^[\x20-\x7e]+$/)
    expect(names(header).utf8 || names(header).ascii).toBe(name)
    expect(names(header).ascii).not.toBe('')
    if (/^[\w .-]+$/.test(name)) expect(names(header).ascii).toBe(name)
  })

  test.each([
    'page.html',
    'page.htm',
    'page.xhtml',
    'drawing.svg',
    'data.xml',
    'feed.rss',
    'script.js',
    'x.mhtml',
  ])('makes %s an attachment, even for viewing', async (name) => {
    const response = await visit(host, await named(name, 'view'))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-disposition')).toStartWith('attachment')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
  })

  test.each(['a.png', 'a.jpg', 'a.gif', 'a.webp', 'a.mp4', 'a.mp3'])(
    'lets %s be viewed in place',
    async (name) => {
      const response = await visit(host, await named(name, 'view'))
      expect(response.headers.get('content-disposition')).toStartWith('inline')
      expect(response.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    },
  )

  test('of a download is an attachment, whatever the type', async () => {
    const response = await visit(host, await named('a.png', 'download'))
    expect(response.headers.get('content-disposition')).toStartWith('attachment')
  })
})

describe('a browser', () => {
  const from = (site: string, dest: string) => get({ 'sec-fetch-site': site, 'sec-fetch-dest': dest })

  test.each(['script', 'style', 'worker', 'serviceworker'])(
    'never gets a file to run as a %s here',
    async (dest) => {
      const answer = await from('same-origin', dest)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ error: 'INVALID_REQUEST' })
    },
  )

  test.each(['image', 'video', 'empty', 'document'])('gets it as %s', async (dest) => {
    await expectWhole(await from('same-origin', dest))
  })
})

test('readers at any speed get the bytes of their own file, although memory is used again', async () => {
  const MIB = 1024 * 1024
  const sizes = [100, 16 * 1024, 100_000, MIB - 1, MIB, MIB + 1, 2 * MIB + 5, 9 * MIB, 12 * MIB + 77]
  const files = await Promise.all(
    sizes.map(async (size, index) => {
      const content = randomBytes(size)
      const file = await upload(host, { key, name: `${index}.bin`, bytes: content })
      return { content, address: await signedAddress(host, file, 'download') }
    }),
  )
  const slow = await Promise.all(files.map(({ address }) => slowReader(address)))
  for (const reader of slow) await reader.readUpTo(1)
  for (let round = 0; round < 3; round++) {
    // Some leave in the middle, with chunks on their way.
    for (const { address } of files) {
      const leaving = await slowReader(address)
      await leaving.readUpTo(1)
      leaving.leave()
    }
    for (const { content, address } of files) {
      const whole = await visit(host, address)
      expect(Buffer.compare(await whole.bytes(), content)).toBe(0)
      const start = Math.floor(content.length / 3)
      const ranged = await visit(host, address, { headers: { range: `bytes=${start}-` } })
      expect(Buffer.compare(await ranged.bytes(), content.subarray(start))).toBe(0)
    }
  }
  for (const [index, reader] of slow.entries()) {
    const { body, isWhole } = await reader.readOn()
    expect({ index, isWhole, same: body.equals(files[index]?.content ?? Buffer.of()) }).toEqual({
      index,
      isWhole: true,
      same: true,
    })
  }
})
