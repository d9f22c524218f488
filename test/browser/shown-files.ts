/** Files of every kind that is shown, small ones, made here. */
import { join } from 'node:path'
import sharp from 'sharp'
import { type Bytes, textBytes } from '../support/clients/public.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { runProgram } from '../support/processes/program.ts'

/** A JPEG of two colours. */
export async function picture(width: number, height: number): Promise<Bytes> {
  const lower = Buffer.from(
    `<svg width="${width}" height="${height}"><rect y="50%" width="100%" height="50%" fill="#c55"/></svg>`,
  )
  const made = sharp({ create: { width, height, channels: 3, background: '#1f7a6f' } })
  return new Uint8Array(
    await made
      .composite([{ input: lower }])
      .jpeg({ quality: 60 })
      .toBuffer(),
  )
}

/** A picture as scanners make them, which most browsers do not read. */
export async function scan(width: number, height: number): Promise<Bytes> {
  const made = sharp({ create: { width, height, channels: 3, background: '#ddd8c8' } })
  return new Uint8Array(await made.tiff().toBuffer())
}

/** A film of ten seconds, or its sound, as ffmpeg makes it. */
export function film(kind: 'webm' | 'mp4' | 'ogg' | 'mp3'): Promise<Bytes> {
  const sight = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=15']
  const sound = ['-f', 'lavfi', '-i', 'sine=frequency=220']
  const inputs = { webm: [...sight, ...sound], mp4: [...sight, ...sound], ogg: sound, mp3: sound }[kind]
  const codecs = {
    webm: ['-c:v', 'libvpx', '-b:v', '600k', '-c:a', 'libopus'],
    mp4: ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'aac'],
    ogg: ['-c:a', 'libvorbis'],
    mp3: ['-c:a', 'libmp3lame'],
  }[kind]
  return byProgram(
    'ffmpeg',
    (path) => ['-v', 'error', ...inputs, '-t', '10', ...codecs, path],
    `film.${kind}`,
  )
}

/** A WAV file in which nothing is to be heard: 16 bits, stereo, 44.1 kHz. */
export function silence(seconds: number): Bytes {
  const rate = 176_400
  const sound = seconds * rate
  const file = Buffer.alloc(44 + sound)
  file.write('RIFF', 0, 'latin1')
  file.writeUInt32LE(36 + sound, 4)
  file.write('WAVEfmt ', 8, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(2, 22)
  file.writeUInt32LE(44_100, 24)
  file.writeUInt32LE(rate, 28)
  file.writeUInt16LE(4, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36, 'latin1')
  file.writeUInt32LE(sound, 40)
  return new Uint8Array(file)
}

/** A ZIP file with an entry of each name. */
export function zip(names: readonly string[]): Promise<Bytes> {
  const program = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as z:
  for name in json.loads(sys.argv[2]): z.writestr(name, 'some bytes')
`
  return byProgram('python3', (path) => ['-c', program, path, JSON.stringify(names)], 'made.zip')
}

async function byProgram(program: string, options: (path: string) => string[], name: string): Promise<Bytes> {
  using folder = temporaryFolder()
  const path = join(folder.path, name)
  const { code, errors } = await runProgram([program, ...options(path)])
  if (code !== 0) throw new Error(`${program}: ${errors}`)
  return new Uint8Array(await Bun.file(path).arrayBuffer())
}

/** A PDF of A5 pages with a line of text on each. `catalog` is put among the entries of its catalog. */
export function pdf(lines: readonly string[], catalog = ''): Bytes {
  const first = 4
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    `<< /Type /Pages /Count ${lines.length} /Kids [${lines.map((_, at) => `${first + 2 * at} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...lines.flatMap((line, at) => {
      const content = `BT /F1 24 Tf 40 500 Td (${line.replace(/[()\\]/g, '\\$&')}) Tj ET`
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 595] /Contents ${first + 2 * at + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ]
    }),
  ]
  return documentOf(objects)
}

/** A PDF of one sheet of A0, which is a scan of so many pixels, all black. */
export function scannedPdf(width: number, height: number): Bytes {
  const scan = Bun.deflateSync(new Uint8Array(Math.ceil(width / 8) * height), { windowBits: 15 })
  const content = 'q 2384 0 0 3370 0 0 cm /Scan Do Q'
  return documentOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 2384 3370] /Contents 4 0 R /Resources << /XObject << /Scan 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 1 /ColorSpace /DeviceGray /Filter [/ASCIIHexDecode /FlateDecode] /Length ${2 * scan.length + 1} >>\nstream\n${scan.toHex()}>\nendstream`,
  ])
}

function documentOf(objects: readonly string[]): Bytes {
  let text = '%PDF-1.7\n'
  const places = objects.map((object, at) => {
    const place = text.length
    text += `${at + 1} 0 obj\n${object}\nendobj\n`
    return place
  })
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  return textBytes(
    `${text}xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`,
  )
}

export const CODE = `/** Says hello. */
export function greet(name: string): string {
  const times = 3
  return \`Hello, \${name}! \`.repeat(times)
}
`

export const MARKDOWN = `# A harbour

Some **bold** words, a [link](https://example.org/a) and \`code\`.

| Tide | Height |
| ---- | -----: |
| high |  3.2 m |

- [x] moored
- [ ] afloat

![a map](https://images.invalid/map.png)
`
