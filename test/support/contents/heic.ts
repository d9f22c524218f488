const FRAME =
  '-v error -f image2pipe -i - -frames:v 1 -pix_fmt yuv420p -c:v libx265 -x265-params log-level=none:keyint=1:info=0 -f hevc -'

/** A HEIC picture, as phones make them: one HEVC frame of ffmpeg in the boxes of ISO/IEC 23008-12. */
export async function heic(png: Uint8Array, width: number, height: number): Promise<Uint8Array<ArrayBuffer>> {
  const ffmpeg = Bun.spawn(['ffmpeg', ...FRAME.split(' ')], { stdin: png, stdout: 'pipe' })
  const nals = nalUnits(Buffer.from(await new Response(ffmpeg.stdout).arrayBuffer()))
  const of = (kind: number) => nals.filter((nal) => typeOf(nal) === kind)
  const picture = Buffer.concat(
    nals.filter((nal) => typeOf(nal) < 32).map((nal) => Buffer.concat([u32(nal.length), nal])),
  )
  const config = hvcC([of(32), of(33), of(34)])
  const meta = (offset: number) =>
    full('meta', 0, [
      full('hdlr', 0, [u32(0), text('pict'), u32(0), u32(0), u32(0), Buffer.from([0])]),
      full('pitm', 0, [u16(1)]),
      full('iloc', 0, [u16(0x4400), u16(1), u16(1), u16(0), u16(1), u32(offset), u32(picture.length)]),
      full('iinf', 0, [u16(1), full('infe', 2, [u16(1), u16(0), text('hvc1'), Buffer.from([0])])]),
      box('iprp', [
        box('ipco', [config, full('ispe', 0, [u32(width), u32(height)])]),
        full('ipma', 0, [u32(1), u16(1), Buffer.from([2, 0x81, 0x02])]),
      ]),
    ])
  const head = box('ftyp', [text('heic'), u32(0), text('mif1'), text('heic')])
  const offset = head.length + meta(0).length + 8
  return new Uint8Array(Buffer.concat([head, meta(offset), box('mdat', [picture])]))
}

/** Decoder configuration (ISO/IEC 14496-15, 8.3.3.1). */
function hvcC(sets: readonly (readonly Buffer[])[]): Buffer {
  const [sps = Buffer.alloc(15)] = sets[1] ?? []
  const profile = Buffer.from(sps.toString('latin1').replaceAll('\0\0\x03', '\0\0'), 'latin1').subarray(3, 15)
  const arrays = sets.flatMap(([nal]) =>
    nal === undefined
      ? []
      : [Buffer.concat([Buffer.from([0x80 | typeOf(nal)]), u16(1), u16(nal.length), nal])],
  )
  const fixed = [0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f, arrays.length]
  return box('hvcC', [Buffer.from([1]), profile, Buffer.from(fixed), ...arrays])
}

/** Between start codes, whose zeros may be two or three. */
function nalUnits(stream: Buffer): Buffer[] {
  const mark = Buffer.from([0, 0, 1])
  const starts: number[] = []
  for (let at = stream.indexOf(mark); at !== -1; at = stream.indexOf(mark, at + 1)) starts.push(at + 3)
  return starts.map((start, index) => {
    let end = (starts[index + 1] ?? stream.length + 3) - 3
    while (end > start && stream[end - 1] === 0) end -= 1
    return stream.subarray(start, end)
  })
}

const typeOf = (nal: Buffer) => ((nal[0] ?? 0) >> 1) & 0x3f
const text = (four: string) => Buffer.from(four, 'latin1')
const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff])
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const box = (name: string, parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([u32(body.length + 8), text(name), body])
}
const full = (name: string, version: number, parts: readonly Buffer[]) =>
  box(name, [u32(version << 24), ...parts])
