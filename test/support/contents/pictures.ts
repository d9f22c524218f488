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
