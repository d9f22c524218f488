/**
 * The process that makes thumbnails of pictures, one after another, as they come on standard input. Whatever a picture
 * does to it, it has nothing but that picture: no settings, no database, no store.
 */
import sharp from 'sharp'
import { ByteReader } from './byte-reader.ts'
import { LARGE, SMALL, type Thumbnail } from './maker.ts'
import { answer, READY, REQUEST_HEADER, readRequestHeader } from './messages.ts'

const MOST_PIXELS = 50_000_000
const QUALITY = 78
const LONGEST_REASON = 300

// One core, and nothing kept of one picture for the next.
sharp.concurrency(1)
sharp.cache(false)
// Of the formats that the library reads, those that are meant, whatever the bytes look like to it.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map((kind) => `VipsForeignLoad${kind}Buffer`),
})

async function thumbnail(picture: Uint8Array): Promise<Thumbnail> {
  // Of what moves or has pages, the first. What ends too early or is damaged is refused, what is merely odd is not.
  const { data, info } = await sharp(picture, {
    limitInputPixels: MOST_PIXELS,
    failOn: 'error',
    sequentialRead: true,
  })
    .autoOrient()
    .resize({ width: LARGE, height: LARGE, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  const pixels = () => sharp(data, { raw: { width, height, channels } })
  const small = await pixels()
    .resize({ width: SMALL, height: SMALL, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: QUALITY })
    .toBuffer()
  const isSmall = Math.max(width, height) <= SMALL
  return { small, large: isSmall ? null : await pixels().webp({ quality: QUALITY }).toBuffer() }
}

async function answerTo(picture: Uint8Array): Promise<Uint8Array> {
  const nothing = new Uint8Array(0)
  try {
    const { small, large } = await thumbnail(picture)
    return answer('made', small, large ?? nothing)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return answer('refused', Buffer.from(reason.slice(0, LONGEST_REASON)), nothing)
  }
}

await Bun.write(Bun.stdout, READY)
const input = new ByteReader(Bun.stdin.stream())
for (;;) {
  const header = await input.take(REQUEST_HEADER)
  const picture = header === null ? null : await input.take(readRequestHeader(header))
  if (picture === null) break
  await Bun.write(Bun.stdout, await answerTo(picture))
}
