/** Thumbnails that are made of pictures: what they look like, and who gets one. */
// Only in test:all: pictures of every kind; thumbnails.test.ts has some.
import { describe, expect, test } from 'bun:test'
import sharp from 'sharp'
import { z } from 'zod'
import { MINUTE } from '../../../src/domain/clock.ts'
import type { BlobKey } from '../../../src/domain/ids.ts'
import {
  api,
  bearer,
  deleteFile,
  detail,
  elements,
  makeFolder,
  textBytes,
  upload,
  visit,
  withHoldfast,
} from '../../support/clients/public.ts'
import { decided, expectIcon, thumbnailOf } from '../../support/clients/thumbnails.ts'
import { guestAt, tus } from '../../support/clients/tus.ts'
import { heic } from '../../support/contents/heic.ts'
import {
  CORNERS,
  cornersOf,
  edges,
  framesGif,
  greyJpeg,
  orientedWebp,
  PICTURES,
  picture,
  quarters,
  SVG,
} from '../../support/contents/pictures.ts'
import { eventually } from '../../support/eventually.ts'
import type { TestHoldfast } from '../../support/servers/holdfast.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const { host, key } = await ownedHost()

const put = (bytes: Uint8Array<ArrayBuffer>, name: string) => upload(host, { key, name, bytes })

describe('the thumbnail of a picture', () => {
  test.each(PICTURES)('of kind %s is WebP in two sizes', async (kind) => {
    const file = await put(await picture(kind, 1200, 600), `picture.${kind}`)
    const small = await thumbnailOf(host, key, file)
    expect(await sharp(small).metadata()).toMatchObject({ format: 'webp', width: 320, height: 160 })
    expect(await edges(small)).toMatchObject({ left: 'red', right: 'blue' })
    expect(await thumbnailOf(host, key, file, '?size=320')).toEqual(small)
    const large = await thumbnailOf(host, key, file, '?size=960')
    expect(await sharp(large).metadata()).toMatchObject({ format: 'webp', width: 960, height: 480 })
    expect((await detail(host, key, file)).has_thumbnail).toBe(true)
  })

  test('is never larger than the picture', async () => {
    const tiny = await put(await picture('png', 40, 90), 'tiny.png')
    for (const size of ['320', '960']) {
      const shown = await thumbnailOf(host, key, tiny, `?size=${size}`)
      expect(await sharp(shown).metadata()).toMatchObject({ width: 40, height: 90 })
    }
    const middle = await put(await picture('png', 500, 250), 'middle.png')
    const shown = await thumbnailOf(host, key, middle, '?size=960')
    expect(await sharp(shown).metadata()).toMatchObject({ width: 500, height: 250 })
  })

  test('stands as the camera was held, and tells nothing of where it was', async () => {
    const gps = { IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '48/1 12/1 0/1' } }
    const turned = await picture('jpeg', 800, 400, (pixels) =>
      pixels.withExif({ IFD0: { Copyright: 'somebody' }, ...gps }).withMetadata({ orientation: 6 }),
    )
    expect(await sharp(turned).metadata()).toMatchObject({ orientation: 6, exif: expect.anything() })
    const shown = await thumbnailOf(host, key, await put(turned, 'turned.jpg'))
    const told = await sharp(shown).metadata()
    expect(told).toMatchObject({ width: 160, height: 320 })
    for (const metadata of ['orientation', 'exif', 'icc', 'xmp']) expect(told).not.toHaveProperty(metadata)
    // What was on the left is on top after a quarter turn to the right.
    expect(await edges(shown)).toMatchObject({ top: 'red', bottom: 'blue' })
  })

  test('leaves room on the page of its folder in the shape of what is shown', async () => {
    const folder = await makeFolder(host, key)
    const turned = await picture('jpeg', 1200, 600, (pixels) => pixels.withMetadata({ orientation: 6 }))
    const file = await upload(host, { key, folder, name: 'turned.jpg', bytes: turned })
    await thumbnailOf(host, key, file)
    const [shown] = elements(await (await visit(host, `/f/${folder}`)).text(), '.file-item img')
    expect(shown?.attributes).toMatchObject({ width: '600', height: '1200' })
    expect(shown?.attributes.srcset?.match(/ \d+w/g)).toEqual([' 160w', ' 480w', ' 600w'])
  })

  test.each([
    ['50.3', 8192, 6144],
    ['108', 12_000, 9000],
    ['200', 16_320, 12_240],
  ])(
    'is made of a phone’s photo of %s million pixels: limits are in memory and time',
    async (_pixels, width, height) => {
      const file = await put(await greyJpeg(width, height), 'photo.jpg')
      expect(await decided(host, key, file)).toBe('ready')
      const screen = await thumbnailOf(host, key, file, '?size=large')
      expect(await sharp(screen).metadata()).toMatchObject({ format: 'webp', width: 1920, height: 1440 })
    },
  )

  test('is made of a HEIC, as phones make them, also of 12 million pixels', async () => {
    for (const [width, height] of [
      [400, 200],
      [4032, 3024],
    ] as const) {
      const file = await put(
        await heic(await quarters('png', 1, [width, height]), width, height),
        'photo.heic',
      )
      expect(await decided(host, key, file)).toBe('ready')
      const small = await thumbnailOf(host, key, file)
      expect(await cornersOf(small)).toBe(CORNERS[0])
      expect(await sharp(small).metadata()).toMatchObject({
        width: 320,
        height: Math.round((320 * height) / width),
      })
    }
  })

  test('is not made of a HEIC that is damaged, or whose head says less than it holds', async () => {
    const whole = await heic(await quarters('png', 1, [400, 200]), 400, 200)
    expect(await decided(host, key, await put(whole.slice(0, -100), 'cut.heic'))).toBe('none')
    const small = await heic(await quarters('png', 1, [400, 200]), 40, 20)
    expect(await decided(host, key, await put(small, 'small.heic'))).toBe('none')
  })

  test.each(['jpeg', 'png', 'webp', 'avif', 'tiff'] as const)(
    'of kind %s stands upright, whichever of the eight orientations it has',
    async (kind) => {
      for (const [at, corners] of CORNERS.entries()) {
        const file = await put(await quarters(kind, at + 1), `turned-${at}.${kind}`)
        for (const size of ['320', '960', 'large']) {
          const shown = await thumbnailOf(host, key, file, `?size=${size}`)
          const { width = 0, height = 0 } = await sharp(shown).metadata()
          const found = {
            orientation: at + 1,
            size,
            corners: await cornersOf(shown),
            isUpright: height > width,
          }
          expect(found).toEqual({ orientation: at + 1, size, corners, isUpright: at >= 4 })
        }
      }
    },
  )

  test('of a WebP whose EXIF data stand behind the picture stands as they say', async () => {
    const [width, height] = [800, 400]
    const turned = orientedWebp(await picture('webp', width, height), { width, height }, 6)
    const shown = await thumbnailOf(host, key, await put(turned, 'turned.webp'))
    expect(await sharp(shown).metadata()).toMatchObject({ width: 160, height: 320 })
    expect(await edges(shown)).toMatchObject({ top: 'red', bottom: 'blue' })
  })

  test('stands on the page of a WebP with an orientation in place of the file itself, which browsers show on its side', async () => {
    for (const [orientation, isTurned] of [
      [1, false],
      [6, true],
      [3, true],
    ] as const) {
      const file = await put(await quarters('webp', orientation, [1000, 600]), `page-${orientation}.webp`)
      expect(await decided(host, key, file)).toBe('ready')
      const html = await (await visit(host, `/d/${file.slug}`)).text()
      const shown = elements(html, '#picture').map(({ attributes }) => attributes.src ?? '')
      expect({ orientation, shown }).toEqual({
        orientation,
        shown: [isTurned ? `${file.thumbnail_url}?size=large` : expect.stringContaining('/v2/')],
      })
      expect(elements(html, '#stage a')).toHaveLength(isTurned ? 0 : 1)
      expect(html.includes('"isSmaller":true')).toBe(false)
    }
  })

  test('of a large photo has a size for screens, which its page shows before the file itself', async () => {
    // Noise, so that it has the bytes of a photo.
    const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
    const pixels = sharp({ create: { width: 2400, height: 1200, channels: 3, background: 'red', noise } })
    const turned = await pixels.jpeg().withMetadata({ orientation: 6 }).toBuffer()
    const file = await put(new Uint8Array(turned), 'photo.jpg')
    const screen = await thumbnailOf(host, key, file, '?size=large')
    expect(await sharp(screen).metadata()).toMatchObject({ format: 'webp', width: 960, height: 1920 })
    expect(await sharp(await thumbnailOf(host, key, file, '?size=960')).metadata()).toMatchObject({
      height: 960,
    })
    const html = await (await visit(host, `/d/${file.slug}`)).text()
    const shown = elements(html, '#stage img').map(({ attributes }) => attributes.src)
    expect(shown).toEqual([file.thumbnail_url, `${file.thumbnail_url}?size=large`])
    expect(elements(html, '#stage a')[0]?.attributes.href).toContain('/v2/')
  })

  test('has no size for screens where the picture is small or moves', async () => {
    const still = await put(await picture('jpeg', 900, 700), 'still.jpg')
    const moving = await put(framesGif(3, 1200), 'moving.gif')
    for (const file of [still, moving]) {
      const large = await thumbnailOf(host, key, file, '?size=960')
      expect(await thumbnailOf(host, key, file, '?size=large')).toEqual(large)
    }
  })

  test('is made by its content, whatever it is called', async () => {
    const bytes = await picture('png', 60, 30)
    for (const name of ['notes.txt', 'page.html', 'unknown', 'film.mp4']) {
      expect(await decided(host, key, await put(bytes, name))).toBe('ready')
    }
    const sent = await upload(host, { key, name: 'x', bytes, type: 'application/pdf' })
    expect(await decided(host, key, sent)).toBe('ready')
  })

  test('holds nothing of what hangs behind the picture', async () => {
    const page = '<script>alert(1)</script>'
    const bytes = Buffer.concat([await picture('jpeg', 60, 30), textBytes(page)])
    const shown = await thumbnailOf(host, key, await put(new Uint8Array(bytes), 'photo.jpg'))
    expect(Buffer.from(shown).includes('script')).toBe(false)
  })

  test('is made of what came over the resumable protocol too', async () => {
    const bytes = await picture('webp', 700, 700)
    const { get, send } = guestAt(host.url)
    const owner = tus({
      get,
      send: (path, init) => send(path, { ...init, headers: { ...bearer(key), ...init?.headers } }),
    })
    const { path, slug } = await owner.start(bytes.length, { filename: 'photo.webp' })
    expect(await owner.patch(path, 0, bytes)).toMatchObject({ status: 204 })
    const { body } = await api(host, key, 'GET', `/api/v1/upload/status?slug=${slug}`)
    const file = z.object({ slug: z.string(), thumbnail_url: z.string() }).parse(body)
    expect(await sharp(await thumbnailOf(host, key, file)).metadata()).toMatchObject({ width: 320 })
  })

  test('of a GIF of ten thousand frames is its first one', async () => {
    const shown = await thumbnailOf(host, key, await put(framesGif(10_000), 'many.gif'))
    expect(await sharp(shown).metadata()).toMatchObject({ width: 320, height: 256 })
  })
})

describe('an icon is shown for', () => {
  test('a drawing, also behind the name and the type of a picture', async () => {
    for (const name of ['drawing.svg', 'drawing.png', 'drawing.jpg']) {
      const file = await upload(host, {
        key,
        name,
        bytes: textBytes(`${SVG}<!-- ${name} -->`),
        type: 'image/png',
      })
      await expectIcon(host, key, file)
      expect(await (await visit(host, file.thumbnail_url)).text()).not.toContain('alert')
    }
  })

  test('a picture that ends too early', async () => {
    for (const kind of PICTURES) {
      const whole = await picture(kind, 1000, 700, (pixels) => pixels.linear([0.5, 0.7, 0.9], [3, 5, 7]))
      const file = await put(whole.slice(0, Math.floor(whole.length / 3)), `short.${kind}`)
      await expectIcon(host, key, file)
    }
  })

  test('what begins like one kind and goes on like another', async () => {
    const [jpeg, png, gif] = [
      await picture('jpeg', 60, 30),
      await picture('png', 60, 30),
      await picture('gif', 60, 30),
    ]
    const mixed = [
      [jpeg.slice(0, 4), png],
      [png.slice(0, 8), jpeg],
      [gif.slice(0, 6), png.slice(6)],
      [textBytes('RIFF0000WEBP'), jpeg],
      [textBytes('II*\0'), gif],
    ]
    for (const [at, parts] of mixed.entries()) {
      await expectIcon(host, key, await put(new Uint8Array(Buffer.concat(parts)), `mixed-${at}.png`))
    }
  })

  test('everything where thumbnails are switched off', async () => {
    await withHoldfast({ thumbnails: false }, async (off) => {
      const { apiKey } = await off.addAccount()
      const file = await upload(off, { key: apiKey, name: 'a.png', bytes: await picture('png', 60, 30) })
      await off.runJobs()
      await expectIcon(off, apiKey, file)
      expect(await off.database.selectFrom('thumbnails').selectAll().execute()).toEqual([])
    })
  })
})

describe('an answer', () => {
  test('that is a thumbnail may be kept, and need not be sent again', async () => {
    const file = await put(await picture('png', 61, 31), 'a.png')
    const whole = await thumbnailOf(host, key, file)
    const { headers } = await visit(host, file.thumbnail_url)
    expect(headers.get('cache-control')).toBe('private, max-age=300')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const etag = headers.get('etag') ?? ''
    const again = await visit(host, file.thumbnail_url, { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    const head = await visit(host, file.thumbnail_url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(whole.length)])
  })

  test('has a tag of its own for each size', async () => {
    const file = await put(await picture('png', 1000, 31), 'wide.png')
    await decided(host, key, file)
    const tags = ['320', '960'].map(async (size) =>
      (await visit(host, `${file.thumbnail_url}?size=${size}`)).headers.get('etag'),
    )
    expect(new Set(await Promise.all(tags)).size).toBe(2)
  })

  test('for another size is 400', async () => {
    const file = await put(textBytes('x'), 'a.txt')
    for (const size of ['', '0', '321', '1e3', '960,320']) {
      const answer = await visit(host, `${file.thumbnail_url}?size=${size}`)
      expect([answer.status, await answer.json()]).toEqual([
        400,
        expect.objectContaining({ error: 'INVALID_REQUEST' }),
      ])
    }
  })
})

describe('contents and their thumbnails', () => {
  test('equal contents have one, and the last of them takes it away', async () => {
    await withHoldfast({}, async (own) => {
      const { apiKey } = await own.addAccount()
      const bytes = await picture('png', 62, 32)
      const sent = { key: apiKey, bytes }
      const [one, other] = [
        await upload(own, { ...sent, name: 'one.png' }),
        await upload(own, { ...sent, name: 'other.png' }),
      ]
      const shown = await thumbnailOf(own, apiKey, one)
      expect(await thumbnailOf(own, apiKey, other)).toEqual(shown)
      await untilStored(own, 2)

      await deleteFile(own, apiKey, one.slug)
      await own.runJobs()
      expect(await thumbnailOf(own, apiKey, other)).toEqual(shown)
      await deleteFile(own, apiKey, other.slug)
      await untilStored(own, 0)
      expect(await own.database.selectFrom('thumbnails').selectAll().execute()).toEqual([])
    })
  })

  test('a file that came while none were made gets its own when it is first looked for', async () => {
    await withHoldfast({}, async (own) => {
      const { apiKey } = await own.addAccount()
      const file = await upload(own, { key: apiKey, name: 'a.png', bytes: await picture('png', 64, 34) })
      await decided(own, apiKey, file)
      await own.database.deleteFrom('thumbnails').execute()
      expect((await detail(own, apiKey, file)).has_thumbnail).toBe(false)
      const icon = await visit(own, file.thumbnail_url)
      expect([icon.headers.get('content-type'), icon.headers.get('cache-control')]).toEqual([
        'image/svg+xml',
        'private, no-cache',
      ])
      await thumbnailOf(own, apiKey, file)
    })
  })

  test('a thumbnail whose bytes are lost is made anew', async () => {
    await withHoldfast({}, async (own) => {
      const { apiKey } = await own.addAccount()
      const file = await upload(own, { key: apiKey, name: 'a.png', bytes: await picture('png', 63, 33) })
      const shown = await thumbnailOf(own, apiKey, file)
      // As a backup that was made without them has it.
      await own.database
        .updateTable('thumbnails')
        .set({ key: '0'.repeat(32) as BlobKey })
        .execute()
      const answer = await visit(own, file.thumbnail_url)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
      expect(await thumbnailOf(own, apiKey, file)).toEqual(shown)
    })
  })
})

/** Lets time go by until only so many blobs are left, thumbnails among them. */
async function untilStored(own: TestHoldfast, blobs: number): Promise<void> {
  await eventually(`${blobs} blobs are left`, async () => {
    own.clock.advance(2 * MINUTE)
    await own.runJobs()
    return (await own.storedBlobs()).length === blobs
  })
}
