import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../../src/domain/errors.ts'
import {
  MOST_BESIDE,
  type PartHandler,
  type PartSink,
  scanMultipart,
} from '../../../src/uploads/multipart.ts'
import type { PartHeaders } from '../../../src/uploads/part-headers.ts'

const BOUNDARY = 'AaB03x'
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.bin"'

interface Part extends PartHeaders {
  content: string
  ended: boolean
}

/** Collects what it is given; content as ISO-8859-1, a character for a byte. */
function collector(): PartHandler & { parts: Part[] } {
  const parts: Part[] = []
  return {
    parts,
    part(headers) {
      const part: Part = { ...headers, content: '', ended: false }
      parts.push(part)
      return {
        write(chunk) {
          part.content += Buffer.from(chunk).toString('latin1')
        },
        end() {
          part.ended = true
        },
      }
    },
  }
}

function stream(chunks: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const rest = [...chunks]
  return new ReadableStream({
    pull(controller) {
      const chunk = rest.shift()
      if (chunk === undefined) controller.close()
      else controller.enqueue(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk)
    },
  })
}

async function parse(...chunks: readonly (string | Uint8Array)[]): Promise<Part[]> {
  const handler = collector()
  await scanMultipart(stream(chunks).getReader(), BOUNDARY, handler)
  expect(handler.parts.every((part) => part.ended)).toBe(true)
  return handler.parts
}

async function outcome(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no error',
    (error: unknown) => error,
  )
}

/** What becomes of a body in one chunk whose parts are skipped where they are called so. */
function scanned(body: string, handler: PartHandler = collector()): Promise<unknown> {
  const skipping: PartHandler = {
    part: (headers, offset) => (headers.name === 'skipped' ? null : handler.part(headers, offset)),
  }
  return outcome(scanMultipart(stream([body]).getReader(), BOUNDARY, skipping))
}

async function expectRefusal(...chunks: readonly string[]): Promise<void> {
  const error = await outcome(parse(...chunks))
  expect(error).toBeInstanceOf(Refusal)
  expect(error).toHaveProperty('code', 'INVALID_REQUEST')
}

/** A part with its boundary line before it and the line break that belongs to the next one after it. */
const part = (headers: string, content = '') => `--${BOUNDARY}\r\n${headers}\r\n\r\n${content}\r\n`
const field = (name: string, content = '') => part(`Content-Disposition: form-data; name="${name}"`, content)
const END = `--${BOUNDARY}--\r\n`

describe('a multipart body', () => {
  test('gives its parts in order with their bytes', async () => {
    const parts = await parse(
      field('comment', 'hello') + part(`${FILE}\r\nContent-Type: image/png`, '\0\xff\r\n') + END,
    )
    expect(parts).toEqual([
      { name: 'comment', filename: null, contentType: null, content: 'hello', ended: true },
      { name: 'file', filename: 'a.bin', contentType: 'image/png', content: '\0\xff\r\n', ended: true },
    ])
  })

  test('may hold an empty file', async () => {
    expect(await parse(part(FILE) + END)).toMatchObject([{ content: '' }])
  })

  test('may end without a line break', async () => {
    expect(await parse(`${part(FILE, 'x')}--${BOUNDARY}--`)).toMatchObject([{ content: 'x' }])
  })

  test('may have text before the first boundary and after the last', async () => {
    const body = `This is a preamble\r\n--AaB0\r\n${part(FILE, 'x')}${END}--${BOUNDARY}\r\nepilogue`
    expect(await parse(body)).toMatchObject([{ content: 'x' }])
  })

  test('may have an epilogue of any length, and is read to its end', async () => {
    let left = 100
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from(part(FILE, 'x') + END)),
      pull(controller) {
        if (left-- > 0) controller.enqueue(Buffer.alloc(64 * 1024))
        else controller.close()
      },
    })
    await scanMultipart(body.getReader(), BOUNDARY, collector())
    expect(left).toBe(-1)
  })

  test('may begin with a preamble of 16 KiB and not of more', async () => {
    const preamble = '-'.repeat(16 * 1024)
    expect(await parse(`${preamble}\r\n`, part(FILE, 'x') + END)).toMatchObject([{ content: 'x' }])
    await expectRefusal(`-${preamble}\r\n`, part(FILE, 'x') + END)
  })

  test('may have spaces and tabs after its boundaries', async () => {
    const padded = (part(FILE, 'x') + field('b') + END).replaceAll(BOUNDARY, `${BOUNDARY} \t `)
    expect(await parse(padded.replace(` \t --\r\n`, '-- \t \r\n'))).toMatchObject([
      { content: 'x' },
      { content: '' },
    ])
  })

  test('may have 1 KiB after a boundary, the CR of its line break included, and not more', async () => {
    const padded = (bytes: number) => part(FILE, 'x').replace(BOUNDARY, BOUNDARY + ' '.repeat(bytes)) + END
    expect(await parse(padded(1023))).toMatchObject([{ content: 'x' }])
    expect(await parse(...padded(1023))).toMatchObject([{ content: 'x' }])
    await expectRefusal(padded(1024))
    await expectRefusal(...padded(1024))
  })

  test('may have 1 KiB of padding before text that makes content of it', async () => {
    const content = `\r\n--${BOUNDARY}${' '.repeat(1024)}x`
    expect(await parse(part(FILE, content) + END)).toMatchObject([{ content }])
    expect(await parse(...(part(FILE, content) + END))).toMatchObject([{ content }])
  })

  test('is refused as soon as the headers of a part are too long, however they go on', async () => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from(`--${BOUNDARY}\r\n${FILE}\r\nX-Long: `)),
      pull(controller) {
        if (pulled++ < 100) controller.enqueue(Buffer.alloc(1024, 'x'))
        else controller.error(new Error('it was read on'))
      },
    })
    expect(await outcome(scanMultipart(body.getReader(), BOUNDARY, collector()))).toBeInstanceOf(Refusal)
  })

  test('may have any number of parts', async () => {
    expect(await parse(field('a', 'x').repeat(5000) + END)).toHaveLength(5000)
  })

  test('may have 1 MiB beside what is taken of it, and not more, wherever that stands', async () => {
    const small = part(FILE, 'x'.repeat(3 * MOST_BESIDE))
    const others = (bytes: number) => {
      const one = field('skipped', 'x'.repeat(1000))
      const rest = bytes % one.length
      return one.repeat(Math.floor(bytes / one.length) - 1) + field('skipped', 'x'.repeat(1000 + rest))
    }
    // The form is over with the CR of its last line.
    const left = MOST_BESIDE - (small.length - 3 * MOST_BESIDE) - (END.length - 1)
    const bodies = (bytes: number) => [
      others(bytes) + small + END,
      small + others(bytes) + END,
      others(bytes - 500_000) + small + others(500_000) + END,
      small + field('skipped', 'x'.repeat(bytes - field('skipped').length)) + END,
    ]
    for (const body of bodies(left)) expect(await scanned(body)).toBe('no error')
    for (const body of bodies(left + 1)) {
      expect(await scanned(body)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
    }
  })

  test('is told that it has too much beside the file before the file is begun', async () => {
    const handler = collector()
    const long = field('skipped', 'x'.repeat(MOST_BESIDE)) + part(FILE, 'y') + END
    expect(await scanned(long, handler)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
    expect(handler.parts).toEqual([])
  })

  test('may have 16 KiB of headers in a part and not more', async () => {
    const room = 16 * 1024 - FILE.length - '\r\nX-Long: \r\n\r\n'.length
    const header = `${FILE}\r\nX-Long: ${'a'.repeat(room)}`
    expect(await parse(part(header, 'x') + END)).toMatchObject([{ content: 'x' }])
    await expectRefusal(part(`${header}a`, 'x') + END)
    await expectRefusal(
      `--${BOUNDARY}\r\n${FILE}\r\nX-Long: `,
      ...Array.from({ length: 20 }, () => 'a'.repeat(1024)),
    )
  })

  test('may have a part called __proto__', async () => {
    const parts = await parse(field('__proto__', 'x') + field('constructor', 'y') + END)
    expect(parts.map(({ name }) => name)).toEqual(['__proto__', 'constructor'])
  })

  const malformed: Record<string, string> = {
    'nothing at all': '',
    'no parts': END,
    'only a preamble': 'hello',
    'a wrong boundary': (part(FILE, 'x') + END).replaceAll(BOUNDARY, 'other'),
    garbage: Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256)).toString('latin1'),
    'endless garbage': 'garbage '.repeat(10_000),
    'an end after the first boundary': `--${BOUNDARY}`,
    'an end after the first boundary line': `--${BOUNDARY}\r\n`,
    'an end in the headers': `--${BOUNDARY}\r\n${FILE}\r\n`,
    'an end in the content': `--${BOUNDARY}\r\n${FILE}\r\n\r\nabc`,
    'an end before the final boundary': part(FILE, 'abc'),
    'an end after half of the final boundary': `${part(FILE, 'abc')}--Aa`,
    'an end where the final boundary has one hyphen': `${part(FILE, 'abc')}--${BOUNDARY}-`,
    'an end where the final boundary has no hyphens': `${part(FILE, 'abc')}--${BOUNDARY}`,
    'an end where the final boundary has only a CR': `${part(FILE, 'abc')}--${BOUNDARY}\r`,
    'more than 1 KiB of padding': part(FILE).replace(BOUNDARY, BOUNDARY + ' '.repeat(1025)) + END,
    'more than 1 KiB of padding before text': part(FILE, `\r\n--${BOUNDARY}${' '.repeat(1025)}x`) + END,
    'line breaks of LF alone': (part(FILE, 'x') + END).replaceAll('\r\n', '\n'),
    'line breaks of CR alone': (part(FILE, 'x') + END).replaceAll('\r\n', '\r'),
    'a bare LF after a boundary': field('a') + part(FILE, 'x').replace('\r\n', '\n') + END,
    'a bare CR after a boundary': field('a') + part(FILE, 'x').replace('\r\n', '\r') + END,
    'a bare LF in the headers': part(`${FILE}\nX-A: b`) + END,
    'a bare CR in the headers': part(`${FILE}\rX-A: b`) + END,
    'a bare LF in a file name': part(FILE.replace('a.bin', 'a\n.bin')) + END,
    'a NUL in the headers': part(FILE.replace('a.bin', 'a\0.bin')) + END,
    'no headers in a part': `--${BOUNDARY}\r\n\r\nabc\r\n${END}`,
    'no Content-Disposition in a part': part('Content-Type: text/plain') + END,
    'a Content-Disposition that is not form-data': part('Content-Disposition: attachment; name="file"') + END,
    'a part without a name': part('Content-Disposition: form-data; filename="a"') + END,
    'two Content-Dispositions in a part': part(`${FILE}\r\n${FILE}`) + END,
    'two names in a part': part(`${FILE}; name="other"`) + END,
    'a quote that is not closed': part('Content-Disposition: form-data; name="file') + END,
    'text after a quoted name': part('Content-Disposition: form-data; name="file"x') + END,
    'a header without a colon': part(`${FILE}\r\nhello`) + END,
    'a space before the colon of a header': part(`${FILE}\r\nX-A : b`) + END,
    'a file sent as base64': part(`${FILE}\r\nContent-Transfer-Encoding: base64`, 'eA==') + END,
  }
  for (const [kind, body] of Object.entries(malformed)) {
    test(`with ${kind} is refused`, async () => {
      await expectRefusal(body)
      await expectRefusal(...body)
    })
  }
})

describe('content', () => {
  const lookAlikes = [
    '\r\n',
    '\r\n--',
    '\r\n--AaB03',
    '\r\r\r\n\n\r\r',
    '\r\r\n--AaB03\r\n--AaB0',
    `--${BOUNDARY}\r\n and --${BOUNDARY}--\r\n`,
    `\n--${BOUNDARY}--\n\r--${BOUNDARY}--`,
    `\r\n-${BOUNDARY}--\r\n${BOUNDARY}\r\n---${BOUNDARY}--`,
    `\r\n--${BOUNDARY}x\r\n`,
    `\r\n--${BOUNDARY}-\r\n`,
    `\r\n--${BOUNDARY} - \r\n`,
    `\r\n--${BOUNDARY}--x\r\n`,
    `\r\n--${BOUNDARY}  \t x\r\n--${BOUNDARY}0`,
    `\r\n--${BOUNDARY}x\r\n--${BOUNDARY}y\r\n--${BOUNDARY}-\r`.repeat(3),
    '\r',
    '\r\n\r\n--\r\n--A',
  ]
  for (const content of lookAlikes) {
    test(`${JSON.stringify(content)} is kept whole wherever the chunks split`, async () => {
      const body = field('a', content) + part(FILE, content) + END
      const whole = await parse(body)
      expect(whole.map((each) => each.content)).toEqual([content, content])
      for (let at = 1; at < body.length; at++) {
        expect(await parse(body.slice(0, at), body.slice(at))).toEqual(whole)
      }
      expect(await parse(...body)).toEqual(whole)
    })
  }

  test('reaches the sink as a view of the chunk it came in', async () => {
    const chunk = Buffer.from(part(FILE, 'x'.repeat(5000)) + END)
    const inner = Buffer.alloc(3000, 'y')
    const seen: Uint8Array[] = []
    await scanMultipart(
      stream([chunk.subarray(0, 4000), inner, chunk.subarray(4000)]).getReader(),
      BOUNDARY,
      {
        part: () => ({ write: (piece) => void seen.push(piece), end() {} }),
      },
    )
    expect(seen.map(({ buffer }) => buffer)).toEqual([chunk.buffer, inner.buffer, chunk.buffer])
    expect(seen.reduce((sum, { length }) => sum + length, 0)).toBe(8000)
  })

  test('of a skipped part is passed over', async () => {
    const handler = collector()
    await scanMultipart(stream([field('skipped', 'x') + part(FILE, 'y') + END]).getReader(), BOUNDARY, {
      part: (headers, offset) => (headers.name === 'skipped' ? null : handler.part(headers, offset)),
    })
    expect(handler.parts).toMatchObject([{ content: 'y' }])
  })
})

describe('while a sink is busy', () => {
  test('nothing more is read', async () => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1
          if (pulled === 1) controller.enqueue(Buffer.from(`--${BOUNDARY}\r\n${FILE}\r\n\r\n`))
          else if (pulled <= 20) controller.enqueue(Buffer.alloc(1024))
          else {
            controller.enqueue(Buffer.from(`\r\n${END}`))
            controller.close()
          }
        },
      },
      { highWaterMark: 0 },
    )
    const pulledWhileBusy: number[] = []
    const turns = async () => {
      const before = pulled
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
      pulledWhileBusy.push(pulled - before)
    }
    await scanMultipart(body.getReader(), BOUNDARY, {
      async part() {
        await turns()
        return { write: turns, end: turns }
      },
    })
    expect(pulled).toBe(21)
    expect(pulledWhileBusy).toEqual(Array.from({ length: 21 }, () => 0))
  })
})

describe('when something fails', () => {
  const failing = (sink: Partial<PartSink>): PartHandler => ({
    part: () => ({ write() {}, end() {}, ...sink }),
  })
  const problem = new Error('disk on fire')
  const fail = () => {
    throw problem
  }

  /** A body that goes on for ever and remembers why it was cancelled. */
  function endless(): { body: ReadableStream<Uint8Array>; reason: () => unknown } {
    let reason: unknown
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from(part(FILE, 'x'))),
      pull: (controller) => controller.enqueue(Buffer.from(field('more', 'y'))),
      cancel(why) {
        reason = why
      },
    })
    return { body, reason: () => reason }
  }

  const places: Record<string, PartHandler> = {
    'the handler': { part: fail },
    "a sink's write": failing({ write: fail }),
    "a sink's write, later": failing({ write: async () => fail() }),
    "a sink's end": failing({ end: fail }),
  }
  for (const [place, handler] of Object.entries(places)) {
    test(`in ${place}, the error passes through and the body is cancelled`, async () => {
      const { body, reason } = endless()
      expect(await outcome(scanMultipart(body.getReader(), BOUNDARY, handler))).toBe(problem)
      expect(reason()).toBe(problem)
    })
  }

  test('in the body itself, its error passes through and the sink gets no end', async () => {
    let sent = false
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent) controller.error(problem)
        else controller.enqueue(Buffer.from(`--${BOUNDARY}\r\n${FILE}\r\n\r\nabc`))
        sent = true
      },
    })
    const handler = collector()
    expect(await outcome(scanMultipart(body.getReader(), BOUNDARY, handler))).toBe(problem)
    expect(handler.parts).toMatchObject([{ content: 'abc', ended: false }])
  })

  test('in the form, the body is cancelled', async () => {
    const { body, reason } = endless()
    const error = await outcome(scanMultipart(body.getReader(), BOUNDARY, collector()))
    expect(error).toBeInstanceOf(Refusal)
    expect(reason()).toBe(error)
  })

  test('a body that does not stop when it is cancelled does not hold the error back', async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from(part(FILE, 'x'))),
      cancel: () => new Promise(() => {}),
    })
    expect(await outcome(scanMultipart(body.getReader(), BOUNDARY, failing({ write: fail })))).toBe(problem)
  })
})
