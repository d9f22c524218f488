/** Pictures that accounts set for their folders. */
// Only in test:all: makes pictures; folder-covers have most of it.
import { describe, expect, test } from 'bun:test'
import sharp from 'sharp'
import { z } from 'zod'
import { type Api, api, newcomer, type Part, refusal } from '../../../support/clients/api.ts'
import { bearer, elements, visit } from '../../../support/clients/public.ts'
import { picture } from '../../../support/contents/pictures.ts'
import { startHoldfast } from '../../../support/servers/holdfast.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const holdfast = await hostOfFile({ rateLimit: 1_000_000 })
const ADDRESS = /^\/t\/[0-9a-f-]{36}$/
const answerOf = z.object({
  data: z.object({ folder: z.string(), thumbnail_url: z.string().regex(ADDRESS) }),
})

const JPEG = await picture('jpeg', 1600, 800)

function parts(folder: string, content: Uint8Array | string, filename = 'cover.jpg'): Part[] {
  return [
    { disposition: 'name="folder"', content: folder },
    { disposition: `name="thumbnail"; filename="${filename}"`, content },
  ]
}

function send(caller: Api, fields: readonly Part[]) {
  return caller.uploadParts(fields, { at: '/api/v1/folder/thumbnail' })
}

async function setCover(caller: Api, folder: string, content: Uint8Array = JPEG): Promise<string> {
  const answer = await send(caller, parts(folder, content))
  expect(answer.status).toBe(200)
  const { data } = answerOf.parse(answer.body)
  expect(data.folder).toBe(folder)
  return data.thumbnail_url
}

const row = async (caller: Api, folder: string) =>
  z
    .object({ data: z.object({ thumbnail_url: z.string().optional() }) })
    .parse((await caller.get(`/api/v1/folder/${folder}`)).body).data

describe('the thumbnail of a folder', () => {
  test('is a small WebP of the picture, told with the folder wherever that is', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('photos')
    expect(await row(caller, folder)).not.toHaveProperty('thumbnail_url')
    const address = await setCover(caller, folder)
    const shown = await visit(holdfast, address)
    expect(shown.headers.get('content-type')).toBe('image/webp')
    expect(await sharp(await shown.bytes()).metadata()).toMatchObject({
      format: 'webp',
      width: 960,
      height: 480,
    })
    expect((await row(caller, folder)).thumbnail_url).toBe(address)
    const list = (await caller.get('/api/v1/folders')).body
    expect(list).toMatchObject({ data: [{ id: folder, thumbnail_url: address }] })
    const changed = await caller.patch(`/api/v1/folder/${folder}`, { name: 'pictures' })
    expect(changed.body).toMatchObject({ data: { thumbnail_url: address } })
    const html = await (await visit(holdfast, `/f/${folder}`)).text()
    const [image] = elements(html, 'meta[property="og:image"]')
    const card = await visit(holdfast, new URL(image?.attributes.content ?? '').pathname)
    expect(await sharp(await card.bytes()).metadata()).toMatchObject({
      format: 'jpeg',
      width: 1200,
      height: 630,
    })
  })

  test('takes the place of the one before, whose address ends', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('photos')
    const first = await setCover(caller, folder)
    const second = await setCover(caller, folder, await picture('png', 300, 300))
    expect(second).not.toBe(first)
    expect((await visit(holdfast, first)).status).toBe(404)
    expect((await visit(holdfast, second)).status).toBe(200)
  })

  test('is seen by who may see the folder, and by nobody else', async () => {
    const caller = await newcomer(holdfast)
    const { apiKey: key } = await holdfast.addAccount()
    const owner = api(holdfast, key)
    const [closed, locked] = [
      await owner.folder('closed', { public: 0 }),
      await owner.folder('locked', { password: 'sesame' }),
    ]
    const below = await owner.folder('below', { parent: closed })
    for (const [folder, status] of [
      [closed, 404],
      [locked, 403],
      [below, 404],
    ] as const) {
      const address = await setCover(owner, folder)
      expect((await visit(holdfast, address)).status).toBe(status)
      expect((await visit(holdfast, address, { headers: bearer(key) })).status).toBe(200)
    }
    expect(await send(caller, parts(closed, JPEG))).toMatchObject(refusal('FOLDER_NOT_FOUND'))
    expect(await send(api(holdfast), parts(closed, JPEG))).toMatchObject(refusal('INVALID_API_KEY'))
  })

  test('goes with its folder', async () => {
    const caller = await newcomer(holdfast)
    const outer = await caller.folder('outer')
    const address = await setCover(caller, await caller.folder('inner', { parent: outer }))
    await caller.post('/api/v1/folder/delete', { identifiers: [outer] })
    expect((await visit(holdfast, address)).status).toBe(404)
  })

  test.each([
    ['what is no picture', 'just some words', 'INVALID_REQUEST'],
    ['nothing', '', 'INVALID_REQUEST'],
    ['half a picture head', JPEG.subarray(0, 20), 'INVALID_REQUEST'],
    ['one byte more than 5 MB', new Uint8Array(5 * 1024 * 1024 + 1), 'PAYLOAD_TOO_LARGE'],
    ['far more than 5 MB', new Uint8Array(7 * 1024 * 1024), 'PAYLOAD_TOO_LARGE'],
  ] as const)('is not made of %s, and the one before stays', async (_, content, error) => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('photos')
    const before = await setCover(caller, folder)
    expect(await send(caller, parts(folder, content))).toMatchObject(refusal(error))
    expect((await row(caller, folder)).thumbnail_url).toBe(before)
  })

  test('is made of a picture of exactly 5 MB', async () => {
    const caller = await newcomer(holdfast)
    const padded = new Uint8Array(5 * 1024 * 1024)
    padded.set(JPEG)
    await setCover(caller, await caller.folder('photos'), padded)
  })

  test('needs both fields, and a form', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('photos')
    const [named, pictured] = parts(folder, JPEG)
    expect(await send(caller, named === undefined ? [] : [named])).toMatchObject(
      refusal('INVALID_REQUEST', /thumbnail/),
    )
    expect(await send(caller, pictured === undefined ? [] : [pictured])).toMatchObject(
      refusal('INVALID_REQUEST', /folder/),
    )
    const asText = { disposition: 'name="thumbnail"', content: JPEG }
    expect(await send(caller, [...parts(folder, JPEG).slice(0, 1), asText])).toMatchObject(
      refusal('INVALID_REQUEST', /thumbnail/),
    )
    expect(await caller.post('/api/v1/folder/thumbnail', { folder })).toMatchObject(
      refusal('INVALID_REQUEST', /multipart/),
    )
  })

  test('is made for each of many requests at once, or refused with a time to come back', async () => {
    const caller = await newcomer(holdfast)
    const folder = await caller.folder('photos')
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(caller, parts(folder, JPEG))))
    for (const { status, headers } of answers) {
      expect([200, 429, 503]).toContain(status)
      if (status !== 200) expect(headers.get('retry-after')).not.toBeNull()
    }
    expect(answers.some(({ status }) => status === 200)).toBe(true)
    const { thumbnail_url: address } = await row(caller, folder)
    expect((await visit(holdfast, address ?? '')).status).toBe(200)
  })

  test('is refused where the server makes none', async () => {
    const own = await startHoldfast({ thumbnails: false })
    try {
      const caller = await newcomer(own)
      const folder = await caller.folder('photos')
      expect(await send(caller, parts(folder, JPEG))).toMatchObject(refusal('INVALID_REQUEST'))
    } finally {
      await own.stop()
    }
  })
})
