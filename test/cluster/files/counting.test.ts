import { describe, expect, test } from 'bun:test'
import { DAY } from '../../../src/domain/clock.ts'
import {
  api,
  askSigned,
  bearer,
  detail,
  type Headers,
  makeFolder,
  randomBytes,
  signedAddress,
  type Uploaded,
  unlock,
  upload,
  visit,
  withHoldfast,
} from '../../support/clients/public.ts'
import type { TestHoldfast } from '../../support/servers/holdfast.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()
const stranger = (await host.addAccount('stranger')).apiKey

function picture(folder?: string): Promise<Uploaded> {
  const placed = folder === undefined ? {} : { folder }
  return upload(host, { key, name: 'photo.png', bytes: randomBytes(1000), ...placed })
}

/** Reads the address to its end and returns the status. */
async function read(address: string, headers: Headers = {}, method = 'GET'): Promise<number> {
  const response = await visit(host, address, { headers, method })
  await response.bytes()
  return response.status
}

async function counts(file: Uploaded): Promise<{ views: number; downloads: number }> {
  await host.settle()
  const { views, downloads } = await detail(host, key, file)
  return { views, downloads }
}

describe('a view', () => {
  test('is the page opened by anybody but the owner', async () => {
    const file = await picture()
    expect(await counts(file)).toEqual({ views: 0, downloads: 0 })
    await read(`/d/${file.slug}`)
    await read(`/d/${file.slug}`, bearer(stranger))
    expect(await counts(file)).toEqual({ views: 2, downloads: 0 })
  })

  test('is the content viewed in place by anybody but the owner, and no download', async () => {
    const file = await picture()
    const address = await signedAddress(host, file, 'view')
    expect(await read(address)).toBe(200)
    expect(await counts(file)).toEqual({ views: 1, downloads: 0 })
  })

  test('is not the owner’s look', async () => {
    const file = await picture()
    await read(`/d/${file.slug}`, bearer(key))
    await read(await signedAddress(host, file, 'view', bearer(key)), bearer(key))
    expect(await counts(file)).toEqual({ views: 0, downloads: 0 })
  })

  test('is not a thumbnail, a question for an address, a refusal or a call of the API', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const file = await picture(folder)
    expect(await read(`/d/${file.slug}`)).toBe(200)
    expect(await read(`/d/${file.slug}?download=1`)).toBe(403)
    expect(await read(`/t/${file.uuid}`)).toBe(403)
    const open = await picture()
    await read(`/t/${open.uuid}`)
    await askSigned(host, 'view', { file_slug: open.slug })
    await askSigned(host, 'download', { file_slug: open.slug })
    await api(host, key, 'GET', `/api/v1/upload/status?slug=${open.slug}`)
    expect(await counts(file)).toEqual({ views: 0, downloads: 0 })
    expect(await counts(open)).toEqual({ views: 0, downloads: 0 })
  })

  test('counts behind a password once it is given', async () => {
    const folder = await makeFolder(host, key, { password: 'sesame' })
    const file = await picture(folder)
    const cookie = await unlock(host, `/f/${folder}`, 'sesame')
    await read(`/d/${file.slug}`, cookie)
    expect(await counts(file)).toEqual({ views: 1, downloads: 0 })
  })

  test('counts for a guest upload too, which nobody owns', async () => {
    const file = await upload(host)
    expect(await read(`/d/${file.slug}`)).toBe(200)
    expect(await read(`/d/${file.slug}?download=1`)).toBe(302)
  })
})

describe('a download', () => {
  test('is counted once, the link and its redirect together', async () => {
    const file = await picture()
    const redirect = await visit(host, `/d/${file.slug}?download=1`)
    expect(await read(redirect.headers.get('location') ?? '')).toBe(200)
    expect(await counts(file)).toEqual({ views: 0, downloads: 1 })
  })

  test('is counted each time', async () => {
    const file = await picture()
    const address = await signedAddress(host, file)
    await read(address)
    await read(address)
    await read(address, bearer(stranger))
    expect(await counts(file)).toEqual({ views: 0, downloads: 3 })
  })

  test('is counted when its range begins at byte 0', async () => {
    const file = await picture()
    const address = await signedAddress(host, file)
    expect(await read(address, { range: 'bytes=0-499' })).toBe(206)
    expect(await counts(file)).toEqual({ views: 0, downloads: 1 })
    expect(await read(address, { range: 'bytes=0-' })).toBe(206)
    expect(await counts(file)).toEqual({ views: 0, downloads: 2 })
    expect(await read(address, { range: 'bytes=-1000' })).toBe(206)
    expect(await counts(file)).toEqual({ views: 0, downloads: 3 })
  })

  test('is counted once when it is resumed or fetched in pieces', async () => {
    const file = await picture()
    const address = await signedAddress(host, file)
    for (const range of ['bytes=0-299', 'bytes=300-599', 'bytes=600-', 'bytes=-100']) {
      expect(await read(address, { range })).toBe(206)
    }
    expect(await counts(file)).toEqual({ views: 0, downloads: 1 })
  })

  test.each(['bytes =5-9', 'bytes=5 -9', 'bytes= 5-9', 'BYTES=5-9', 'bytes=,5-9', 'bytes=2000-0'])(
    'is counted for %p only if it brings the file from its beginning',
    async (range) => {
      const file = await picture()
      const isWhole = (await read(await signedAddress(host, file), { range })) === 200
      expect(await counts(file)).toEqual({ views: 0, downloads: isWhole ? 1 : 0 })
    },
  )

  test('is counted when a list of ranges is answered whole', async () => {
    const file = await picture()
    expect(await read(await signedAddress(host, file), { range: 'bytes=5-9,20-29' })).toBe(200)
    expect(await counts(file)).toEqual({ views: 0, downloads: 1 })
  })

  test('is not counted, nor a view, where no byte is sent: HEAD, 304, 412, 416, 403, 404', async () => {
    const file = await picture()
    const address = await signedAddress(host, file)
    const etag = (await visit(host, address, { method: 'HEAD' })).headers.get('etag') ?? ''
    expect(await read(address, { 'if-none-match': etag })).toBe(304)
    expect(await read(address, { 'if-match': '"x"' })).toBe(412)
    expect(await read(address, { range: 'bytes=5000-' })).toBe(416)
    expect(await read(address.replace('token=', 'token=x'))).toBe(403)
    await read(`/d/${file.slug}`, {}, 'HEAD')
    await read(`/d/${file.slug}?download=1`, {}, 'HEAD')
    expect(await counts(file)).toEqual({ views: 0, downloads: 0 })
  })

  test('shows in the list of files', async () => {
    const file = await picture()
    await read(await signedAddress(host, file))
    await host.runJobs()
    const list = await api(host, key, 'GET', '/api/v1/files?per_page=1')
    expect(list.body).toMatchObject({ data: [{ id: file.file_id, downloads: 1 }] })
  })

  test('loses nothing when many come at once', async () => {
    const file = await picture()
    const address = await signedAddress(host, file)
    await Promise.all(Array.from({ length: 40 }, () => read(address)))
    await Promise.all(Array.from({ length: 40 }, () => read(`/d/${file.slug}`)))
    expect(await counts(file)).toEqual({ views: 40, downloads: 40 })
  })
})

test('what was counted before the server stops is there when it starts again', async () => {
  await withHoldfast({}, async (own) => {
    const account = await own.addAccount('owner')
    const file = await upload(own, { key: account.apiKey })
    await (await visit(own, await signedAddress(own, file))).bytes()
    await visit(own, `/d/${file.slug}`)
    await own.restart()
    const { views, downloads } = await detail(own, account.apiKey, file)
    expect({ views, downloads }).toEqual({ views: 1, downloads: 1 })
  })
})

describe('a use', () => {
  const uses: readonly [string, (own: TestHoldfast, ownKey: string, file: Uploaded) => Promise<Response>][] =
    [
      ['the page', (own, _, file) => visit(own, `/d/${file.slug}`)],
      ['a download', async (own, _, file) => visit(own, await signedAddress(own, file))],
      ['a look in place', async (own, _, file) => visit(own, await signedAddress(own, file, 'view'))],
      [
        'the owner’s own page',
        (own, ownKey, file) => visit(own, `/d/${file.slug}`, { headers: bearer(ownKey) }),
      ],
    ]

  test.each(uses)('of %s keeps the file for another 45 days', async (_name, use) => {
    await withHoldfast({}, async (own) => {
      const account = await own.addAccount('owner')
      const file = await upload(own, { key: account.apiKey, name: 'photo.png' })
      own.clock.advance(40 * DAY)
      const response = await use(own, account.apiKey, file)
      expect(response.status).toBe(200)
      await response.bytes()
      await own.runJobs()
      own.clock.advance(44 * DAY)
      await own.runJobs()
      const alive = await api(own, account.apiKey, 'GET', `/api/v1/file/${file.slug}`)
      expect(alive.status).toBe(200)
      own.clock.advance(2 * DAY)
      await own.runJobs()
      const gone = await api(own, account.apiKey, 'GET', `/api/v1/file/${file.slug}`)
      expect(gone.status).toBe(404)
    })
  })

  test('is not a thumbnail, the password form or a call of the API', async () => {
    await withHoldfast({}, async (own) => {
      const account = await own.addAccount('owner')
      const folder = await makeFolder(own, account.apiKey, { password: 'sesame' })
      const locked = await upload(own, { key: account.apiKey, folder })
      const open = await upload(own, { key: account.apiKey })
      own.clock.advance(40 * DAY)
      await visit(own, `/d/${locked.slug}`)
      await visit(own, `/t/${open.uuid}`)
      await detail(own, account.apiKey, open)
      await detail(own, account.apiKey, locked)
      own.clock.advance(6 * DAY)
      await own.runJobs()
      for (const { slug } of [locked, open]) {
        expect((await api(own, account.apiKey, 'GET', `/api/v1/file/${slug}`)).status).toBe(404)
      }
    })
  })
})
