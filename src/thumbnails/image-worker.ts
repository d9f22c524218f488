/**
 * In a child process: a malicious picture reaches no settings, no database, no store. Pictures come on standard input.
 */
import sharp, { type Metadata, type Sharp } from 'sharp'
import { CARD_HEIGHT, CARD_WIDTH } from '../domain/card.ts'
import { composeCard } from './card-composition.ts'
import { ByteReader, isHevc, whyTooLarge } from './images.ts'
import {
  answer,
  LARGE,
  MOST_BYTES,
  READY,
  REQUEST_HEADER,
  readRequestHeader,
  SCREEN,
  SMALL,
  type Thumbnail,
  unpackPictures,
  type Wanted,
} from './maker.ts'

/** Bytes for one picture. */
const MEMORY = Number(process.argv[2])
const QUALITY = 78
const LONGEST_REASON = 300

// What a decoder prints would stand between the answers on standard output.
console.log = () => {}
// One core, and no cache between pictures.
sharp.concurrency(1)
sharp.cache(false)
// Block all loaders of the library but those for the intended formats, whatever a file's signature.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map((kind) => `VipsForeignLoad${kind}Buffer`),
})

async function thumbnail(picture: Uint8Array): Promise<Thumbnail> {
  const head = await sharp(picture, { limitInputPixels: false }).metadata()
  const tooLarge = whyTooLarge(head, picture.byteLength, MEMORY)
  if (tooLarge !== null) throw new Error(tooLarge)
  // First frame or page. Truncated and damaged pictures are refused; mere warnings are not.
  const decoder = isHevc(head)
    ? await decodedHevc(picture, head)
    : sharp(picture, { limitInputPixels: false, failOn: 'error', sequentialRead: true }).autoOrient()
  const { data, info } = await decoder
    .resize({ width: SCREEN, height: SCREEN, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  const within = (side: number) =>
    sharp(data, { raw: { width, height, channels } })
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: QUALITY })
      .toBuffer()
  const longer = Math.max(width, height)
  const screen = longer > LARGE && !isMoving(head, picture) ? await within(SCREEN) : null
  return {
    small: await within(SMALL),
    large: longer > SMALL ? await within(LARGE) : null,
    // A noisy picture may compress badly.
    screen: screen !== null && screen.byteLength <= MOST_BYTES ? screen : null,
    isTurned: isTurned(head),
    ...head.autoOrient,
  }
}

/** Photos of phones in HEIC, whose codec the library's own build lacks: upright, in RGBA. */
async function decodedHevc(picture: Uint8Array, { width: across, height: down }: Metadata): Promise<Sharp> {
  const { default: libheif } = await import('libheif-js/libheif-wasm/libheif-bundle.mjs')
  const { HeifDecoder } = libheif()
  const images = new HeifDecoder().decode(picture)
  const image = images.find((each) => each.is_primary()) ?? images[0]
  if (image === undefined) throw new Error('it holds no picture that can be decoded')
  const [width, height] = [image.get_width(), image.get_height()]
  // The memory was judged by these.
  if (width * height > across * down) throw new Error('it is larger than its head says')
  const data = new Uint8ClampedArray(width * height * 4)
  const pixels = await new Promise((done) => image.display({ data, width, height }, done))
  for (const each of images) each.free()
  if (pixels === null) throw new Error('its HEVC is damaged')
  return sharp(data, { raw: { width, height, channels: 4 }, limitInputPixels: false })
}

/** Chromium reads the orientation of JPEG, PNG and AVIF, and ignores that of WebP. */
function isTurned({ format, orientation = 1 }: Metadata): boolean {
  return format === 'webp' && orientation !== 1
}

/** An animated PNG declares itself before its first frame, the only one that the library reads. */
const PNG_HEAD = 64 * 1024

function isMoving({ format, pages = 1 }: Metadata, picture: Uint8Array): boolean {
  const beginning = Buffer.from(picture.buffer, picture.byteOffset, Math.min(picture.byteLength, PNG_HEAD))
  return pages > 1 || (format === 'png' && beginning.includes('acTL'))
}

async function answerTo(wanted: Wanted, bytes: Uint8Array): Promise<Uint8Array> {
  const nothing = new Uint8Array(0)
  try {
    if (wanted !== 'thumbnail') {
      const card = await composeCard(wanted, unpackPictures(bytes))
      return answer({ kind: 'made', width: CARD_WIDTH, height: CARD_HEIGHT }, card, nothing, nothing)
    }
    const { small, large, screen, isTurned: turned, width, height } = await thumbnail(bytes)
    const header = { kind: turned ? 'turned' : 'made', width, height } as const
    return answer(header, small, large ?? nothing, screen ?? nothing)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const header = { kind: 'refused', width: 0, height: 0 } as const
    return answer(header, Buffer.from(reason.slice(0, LONGEST_REASON)), nothing, nothing)
  }
}

await Bun.write(Bun.stdout, READY)
const input = new ByteReader(Bun.stdin.stream())
for (;;) {
  const header = await input.take(REQUEST_HEADER)
  if (header === null) break
  const { wanted, length } = readRequestHeader(header)
  const bytes = await input.take(length)
  if (bytes === null) break
  await Bun.write(Bun.stdout, await answerTo(wanted, bytes))
}
