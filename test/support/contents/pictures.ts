/** Generated pictures of every format, and some malicious ones. */
import { once } from 'node:events'
import { crc32, createDeflate } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import type { Bytes } from '../clients/public.ts'

export const PICTURES = ['jpeg', 'png', 'webp', 'gif', 'avif', 'tiff'] as const

/** A picture with a red left half and a blue right half. */
export async function picture(
  kind: (typeof PICTURES)[number],
  width: number,
  height: number,
  change: (pixels: Sharp) => Sharp = (pixels) => pixels,
): Promise<Bytes> {
  const half = { width: Math.ceil(width / 2), height, channels: 3, background: '#0000ff' } as const
  const blue = await sharp({ create: half }).png().toBuffer()
  const red = sharp({ create: { width, height, channels: 3, background: '#ff0000' } })
  const pixels = red.composite([{ input: blue, left: Math.floor(width / 2), top: 0 }])
  return new Uint8Array(await change(pixels).toFormat(kind).toBuffer())
}

/** Of a picture with four quarters, by the orientation that it says: the corners as it is meant, row by row from the top left. */
export const CORNERS = ['rgbw', 'grwb', 'wbgr', 'bwrg', 'rbgw', 'brwg', 'wgbr', 'gwrb'] as const

/** A picture whose quarters are red, green, blue and white, row by row, with an orientation from 1 to 8. */
export async function quarters(
  kind: 'jpeg' | 'png' | 'webp' | 'avif' | 'tiff',
  orientation: number,
  [width, height]: readonly [number, number] = [400, 200],
): Promise<Bytes> {
  const size = { width: width / 2, height: height / 2, channels: 3 } as const
  const quarter = async (background: string, left: number, top: number) => ({
    input: await sharp({ create: { ...size, background } })
      .png()
      .toBuffer(),
    left,
    top,
  })
  const parts = [
    await quarter('#ff0000', 0, 0),
    await quarter('#00ff00', width / 2, 0),
    await quarter('#0000ff', 0, height / 2),
  ]
  const pixels = sharp({ create: { width, height, channels: 3, background: '#ffffff' } }).composite(parts)
  return new Uint8Array(await pixels.withMetadata({ orientation }).toFormat(kind).toBuffer())
}

/** The colours near the corners, as in `CORNERS`. */
export async function cornersOf(image: Uint8Array): Promise<string> {
  const { data, info } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (across: number, down: number) => {
    const [x, y] = [Math.floor(info.width * across), Math.floor(info.height * down)]
    const [red = 0, green = 0, blue = 0] = data.subarray((y * info.width + x) * info.channels)
    if (Math.min(red, green, blue) > 128) return 'w'
    return red > 128 ? 'r' : green > 128 ? 'g' : blue > 128 ? 'b' : '?'
  }
  return at(0.2, 0.2) + at(0.8, 0.2) + at(0.2, 0.8) + at(0.8, 0.8)
}

/** Colours at the middle of each edge: the nearer one of red and blue. */
export async function edges(image: Uint8Array): Promise<Record<'left' | 'right' | 'top' | 'bottom', string>> {
  const { data, info } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => {
    const pixel = (y * info.width + x) * info.channels
    return (data[pixel] ?? 0) > (data[pixel + 2] ?? 0) ? 'red' : 'blue'
  }
  const [middle, centre] = [Math.floor(info.width / 2), Math.floor(info.height / 2)]
  return {
    left: at(0, centre),
    right: at(info.width - 1, centre),
    top: at(middle, 0),
    bottom: at(middle, info.height - 1),
  }
}

/** A black grayscale PNG of any size, generated with only a few rows in memory. */
export async function blackPng(width: number, height: number): Promise<Bytes> {
  const deflate = createDeflate({ level: 1 })
  const packed: Buffer[] = []
  deflate.on('data', (chunk: Buffer) => packed.push(chunk))
  const rows = Buffer.alloc((width + 1) * Math.min(height, 50))
  for (let row = 0; row < height; row += 50) {
    const some = rows.subarray(0, (width + 1) * Math.min(50, height - row))
    if (!deflate.write(some)) await once(deflate, 'drain')
  }
  deflate.end()
  await once(deflate, 'end')
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  header.writeUInt8(8, 8)
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const parts = [chunk('IHDR', header), chunk('IDAT', Buffer.concat(packed)), chunk('IEND', Buffer.alloc(0))]
  return new Uint8Array(Buffer.concat([signature, ...parts]))
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}

/**
 * A grey JPEG of any size up to 65,535 pixels a side, as an encoder writes one that streams: without a pixel in memory.
 */
export async function greyJpeg(width: number, height: number): Promise<Bytes> {
  const grey = { width: 8, height: 8, channels: 3, background: '#808080' } as const
  // With the tables of the standard, in which four equal blocks after the first are three bytes.
  const small = await sharp({ create: grey }).greyscale().jpeg({ optimiseCoding: false }).toBuffer()
  const frame = small.indexOf(Buffer.from('ffc0', 'hex'))
  const scan = small.indexOf(Buffer.from('ffda', 'hex'))
  const head = Buffer.from(small.subarray(0, scan + 2 + small.readUInt16BE(scan + 2)))
  head.writeUInt16BE(height, frame + 5)
  head.writeUInt16BE(width, frame + 7)
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8)
  const pixels = Buffer.alloc(Math.ceil(blocks / 4) * 3, Buffer.from('28a28a', 'hex'))
  return new Uint8Array(Buffer.concat([head, pixels, Buffer.from('ffd9', 'hex')]))
}

/** The same WebP with an orientation in its EXIF data, as photo programs write it. */
export function orientedWebp(
  webp: Bytes,
  size: { width: number; height: number },
  orientation: number,
): Bytes {
  const exif = Buffer.from('49492a00080000000100120103000100000000000000' + '00000000', 'hex')
  exif.writeUInt16LE(orientation, 18)
  const extended = Buffer.from('565038580a00000008000000000000000000', 'hex')
  extended.writeUIntLE(size.width - 1, 12, 3)
  extended.writeUIntLE(size.height - 1, 15, 3)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(exif.length)
  const chunks = [extended, webp.subarray(12), Buffer.from('EXIF'), length, exif]
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks])
  const whole = Buffer.alloc(4)
  whole.writeUInt32LE(body.length)
  return new Uint8Array(Buffer.concat([Buffer.from('RIFF'), whole, body]))
}

/** A GIF with so many frames of one pixel each, on a screen of 500 × 400. */
export function framesGif(frames: number, width = 500): Bytes {
  const screen = Buffer.from('474946383961' + 'f4019001' + '800000' + 'ff00000000ff', 'hex')
  screen.writeUInt16LE(width, 6)
  const control = '21f904000a000000'
  const place = '2c000000000100010000'
  const pixel = '02024c0100'
  const frame = Buffer.from(control + place + pixel, 'hex')
  return new Uint8Array(Buffer.concat([screen, ...new Array<Buffer>(frames).fill(frame), Buffer.from(';')]))
}

/** An SVG with a script. */
export const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="900"><script>alert(1)</script><rect width="900" height="900"/></svg>'
