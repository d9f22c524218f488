import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Refusal } from '../../../src/domain/errors.ts'
import { scanMultipart } from '../../../src/uploads/multipart.ts'
import { runsOf } from '../../support/cases.ts'

interface Part {
  name: string
  filename: string | null
  /** Where in the body the content begins. */
  offset: number
  content: string
}

/** The parts as the scan gives them (content in ISO-8859-1), or the code of its refusal. */
async function scan(body: Buffer, boundary: string, lengths: readonly number[]): Promise<Part[] | string> {
  const parts: Part[] = []
  let busy = false
  const whileBusy = async (act: () => void) => {
    if (busy) throw new Error('called before the last call was done')
    busy = true
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    act()
    busy = false
  }
  try {
    await scanMultipart(chunked(body, lengths).getReader(), boundary, {
      async part({ name, filename }, offset) {
        const part: Part = { name, filename, offset, content: '' }
        await whileBusy(() => parts.push(part))
        return {
          write: (chunk) =>
            whileBusy(() => {
              part.content += Buffer.from(chunk).toString('latin1')
            }),
          end: () => whileBusy(() => {}),
        }
      },
    })
    return parts
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

/** The body in chunks of these lengths, taken round and round; each chunk is overwritten once the next is asked for. */
function chunked(body: Buffer, lengths: readonly number[]): ReadableStream<Uint8Array> {
  let at = 0
  let turn = 0
  let last = Buffer.alloc(0)
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        last.fill('!')
        if (at >= body.length) return controller.close()
        const length = lengths[turn++ % lengths.length] ?? 1
        last = Buffer.from(body.subarray(at, at + length))
        at += length
        controller.enqueue(last)
      },
    },
    { highWaterMark: 0 },
  )
}

const lengths = fc.oneof(
  fc.constant([1]),
  fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 20 }),
  fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 20 }),
)

const boundary = fc
  .string({ unit: fc.constantFrom(..."abAB01'()+_,-./:=?"), minLength: 1, maxLength: 70 })
  .filter((text) => text.length > 0)

/** Content that likes to look like a boundary of the form. */
function content(boundary: string): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      '-',
      '--',
      '\r\n--',
      ' ',
      '\t',
      boundary,
      `--${boundary}`,
      `\r\n--${boundary}`,
    ),
    fc.integer({ min: 0, max: boundary.length }).map((length) => `\r\n--${boundary.slice(0, length)}`),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  )
  return fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
}

/** A whole boundary line in the content: no reader can tell it from a delimiter. */
function ambiguous(content: string, boundary: string): boolean {
  const delimiter = `\r\n--${boundary}`
  const text = `${content}\r\n`
  for (let at = text.indexOf(delimiter); at >= 0; at = text.indexOf(delimiter, at + 1)) {
    if (/^(--)?[ \t]*(\r|\n)/.test(text.slice(at + delimiter.length))) return true
  }
  return false
}

const form = boundary.chain((boundary) =>
  fc.record({
    boundary: fc.constant(boundary),
    parts: fc.array(
      fc.record({
        name: fc.string({ unit: 'grapheme', maxLength: 20 }),
        filename: fc.option(fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.toWellFormed())),
        content: content(boundary).filter((text) => !ambiguous(text, boundary)),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    preamble: fc.constantFrom('', '\r\n', 'This is a preamble.\r\n', `--${boundary.slice(1)}\r\n`),
    padding: fc.constantFrom('', ' ', ' \t  '),
    ending: fc.constantFrom('', '\r\n', ' \r\n', '\r\nepilogue', `\r\n--${boundary}\r\n`),
  }),
)

/** As browsers write a name. A percent sign before 22, 0D or 0A would be read as an escape, so none is written. */
const written = (name: string) =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('\\', '\\\\')
const readable = (name: string) => name.replaceAll('%', '_').replaceAll('\0', '_')

test('any parts, in any chunks, come out as they went in', async () => {
  await fc.assert(
    fc.asyncProperty(form, lengths, async ({ boundary, parts, preamble, padding, ending }, lengths) => {
      const sent = parts.map((part) => ({
        name: readable(part.name),
        filename: readable(part.filename ?? '') || null,
        content: part.content,
      }))
      const pieces = sent.flatMap(({ name, filename, content }) => [
        Buffer.from(`--${boundary}${padding}\r\nContent-Disposition: form-data; name="${written(name)}"`),
        Buffer.from(filename === null ? '' : `; filename="${written(filename)}"`),
        Buffer.from('\r\n\r\n'),
        Buffer.from(`${content}\r\n`, 'latin1'),
      ])
      const body = Buffer.concat([Buffer.from(preamble), ...pieces, Buffer.from(`--${boundary}--${ending}`)])
      const received = await scan(body, boundary, lengths)
      expect(received).toMatchObject(sent)
      expect(received).toHaveLength(sent.length)
      for (const { offset, content } of typeof received === 'string' ? [] : received) {
        expect(body.toString('latin1', offset, offset + content.length)).toBe(content)
      }
    }),
    { numRuns: runsOf(500) },
  )
})

test('any bytes give the same parts or the same refusal, however they are split', async () => {
  const boundary = 'b-b'
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(`\r\n--${boundary}\r\n`, `\r\n--${boundary}--`, '\r\n\r\n') },
    { weight: 3, arbitrary: fc.constant('Content-Disposition: form-data; name="a"; filename="b"\r\n\r\n') },
    {
      weight: 6,
      arbitrary: fc.constantFrom('\r', '\n', '\r\n', '-', '--', ' ', '\t', 'b', 'b-', 'x', boundary),
    },
    { weight: 1, arbitrary: fc.constantFrom(' '.repeat(1023), ' '.repeat(1024), 'x'.repeat(9000)) },
  )
  const soup = fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.from(pieces.join(''), 'latin1'))
  const head = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n`)
  let whole = 0
  await fc.assert(
    fc.asyncProperty(soup, fc.boolean(), lengths, async (soup, started, lengths) => {
      const body = started ? Buffer.concat([head, soup]) : soup
      const expected = await scan(body, boundary, [Math.max(1, body.length)])
      if (typeof expected !== 'string') whole += 1
      expect(await scan(body, boundary, lengths)).toEqual(expected)
    }),
    { numRuns: runsOf(1500) },
  )
  expect(whole).toBeGreaterThan(0)
})
