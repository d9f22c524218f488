/**
 * What strangers send, read by each parser: what was written comes back, and whatever else comes is refused as such, never by
 * another error. HOLDFAST_TEST_FUZZ_CASES says how many of each; a failure prints its seed and its smallest case.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseUsername } from '../../src/domain/account.ts'
import { Refusal } from '../../src/domain/errors.ts'
import { cleanFileName, extensionOf, markedName } from '../../src/domain/file-name.ts'
import { parseFolderName } from '../../src/domain/folder-name.ts'
import { parseMailAddress, parseSender } from '../../src/domain/mail-address.ts'
import { parseSize } from '../../src/domain/sizes.ts'
import { foldName, sortKey } from '../../src/domain/sort-key.ts'
import { contentDisposition } from '../../src/downloads/send.ts'
import { zipNames } from '../../src/downloads/zip/archive-plan.ts'
import { parseHttpDate, parseRange } from '../../src/server/answers/part-to-send.ts'
import { addressBucket, clientAddress, parseTrustedProxies } from '../../src/server/call.ts'
import { cookieValue } from '../../src/server/requests/browser.ts'
import { parseBoundary } from '../../src/uploads/boundary.ts'
import { parsePartHeaders } from '../../src/uploads/part-headers.ts'
import { parseConcat, parseMetadata } from '../../src/uploads/resumable/tus-headers.ts'

const CASES = Number(process.env.HOLDFAST_TEST_FUZZ_CASES ?? 10_000)

/** Text of a header: what HTTP lets through, from a grammar of what parsers look for. */
const headerText = (...words: readonly string[]) =>
  fc
    .array(
      fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom(...words) },
        { weight: 2, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 12 }) },
        { weight: 1, arbitrary: fc.nat().map(String) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('9'.repeat(25), ' ', '\t', '"', "'", '%', '=', ';', ',', '\\'),
        },
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('').replace(/[\r\n\0]/g, ' '))

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  headerText('..', '/', '\\', ':', 'con', '.txt', '(2)', '\u202e', '😀', 'e\u0301', '\ud800', 'ß'),
)

/** Whatever it returns; null where it refuses. Any other error is passed on. */
function refusing<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

function holds<T>(name: string, from: fc.Arbitrary<T>, property: (value: T) => void): void {
  test(
    name,
    () => fc.assert(fc.property(from, property), { numRuns: CASES }),
    // A thousand a second on the slowest machine.
    30_000 + CASES,
  )
}

describe('ranges', () => {
  const sizes = fc.oneof(fc.constantFrom(0, 1, 2, 100), fc.nat(10 ** 12))
  /** RFC 9110, section 14.1.2, written down as plainly as can be. */
  function plain(header: string, size: number): string {
    const match = /^bytes=(\d*)-(\d*)$/.exec(header)
    if (match === null || match[0] === 'bytes=-') return 'whole'
    const [, first = '', last = ''] = match
    if (first === '') {
      if (Number(last) === 0) return 'unsatisfiable'
      return size === 0 ? 'whole' : `${Math.max(0, size - Number(last))}-${size}`
    }
    if (Number(first) >= size) return 'unsatisfiable'
    if (last !== '' && Number(last) < Number(first)) return 'whole'
    return `${first === '' ? 0 : Number(first)}-${last === '' ? size : Math.min(size, Number(last) + 1)}`
  }
  const told = (header: string, size: number) => {
    const range = parseRange(header, size)
    return range.kind === 'part' ? `${range.start}-${range.end}` : range.kind
  }
  const number = fc.oneof(
    fc.constant(''),
    fc.nat(10 ** 12).map(String),
    fc.constantFrom('0', '1', '00', '99', '9'.repeat(25)),
  )

  holds('are read as the RFC has it', fc.tuple(number, number, sizes), ([first, last, size]) => {
    const header = `bytes=${first}-${last}`
    expect(told(header, size)).toBe(plain(header, size))
  })

  holds(
    'never lead outside of the content',
    fc.tuple(headerText('bytes=', '-', ',', '0', '1', 'items='), sizes),
    ([header, size]) => {
      const range = parseRange(header, size)
      if (range.kind !== 'part') return
      expect(range.start).toBeGreaterThanOrEqual(0)
      expect(range.end).toBeLessThanOrEqual(size)
      expect(range.start).toBeLessThan(range.end)
    },
  )
})

describe('headers of resumable uploads', () => {
  const key = fc.stringMatching(/^[a-z][a-z0-9_-]{0,12}$/)
  holds(
    'give metadata back',
    fc.dictionary(key, fc.string({ unit: 'grapheme', maxLength: 60 }), { maxKeys: 8 }),
    (metadata) => {
      const pairs: [string, string][] = Object.entries(metadata).map(([name, value]) => [
        name,
        value.toWellFormed(),
      ])
      const header = pairs
        .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`.trim())
        .join(',')
      expect([...parseMetadata(header)]).toEqual(pairs)
    },
  )
  holds(
    'are refused where they are no metadata',
    headerText('filename ', 'YS50eHQ=', ',', 'folder', '__proto__ YQ=='),
    (header) => {
      const read = refusing(() => parseMetadata(header))
      for (const [name] of read ?? []) expect(name).not.toBe('')
    },
  )
  holds(
    'are refused where they concatenate nothing',
    headerText('final;', 'partial', '/api/v1/uploads/', '0123456789abcdef', ' ', 'http://a'),
    (header) => {
      const read = refusing(() => parseConcat(header))
      if (read?.kind === 'final') for (const token of read.parts) expect(token).toMatch(/^[0-9a-f]{32}$/)
    },
  )
})

describe('parts of forms', () => {
  holds(
    'have headers that can be read, or are refused',
    headerText(
      'Content-Disposition: ',
      'form-data',
      '; name=',
      '"file"',
      "; filename*=utf-8''",
      '%e2%82%ac',
      '; filename="a.txt"',
      '\\"',
      'Content-Type: text/plain',
    ),
    (text) => {
      const block = Buffer.from(text.replaceAll('  ', '\r\n'), 'latin1')
      const headers = refusing(() => parsePartHeaders(block))
      if (headers?.contentType != null) expect(headers.contentType).toMatch(/^[^\s/]+\/[^\s/;]+$/)
    },
  )
  holds(
    'have a boundary of at most 70 characters, or are refused',
    headerText('multipart/form-data', '; boundary=', '"', 'b', ' ', ';'),
    (header) => {
      const boundary = refusing(() => parseBoundary(header))
      if (boundary !== null) expect(boundary).toMatch(/^[ -~]{0,69}[!-~]$/)
    },
  )
})

describe('names', () => {
  holds('of files are one component of at most 255 bytes, and stay as they are then', anyText, (text) => {
    const name = refusing(() => cleanFileName(text))
    if (name === null) return
    expect(name).not.toMatch(/[/\0]/)
    expect(['', '.', '..']).not.toContain(name)
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    expect(cleanFileName(name)).toBe(name)
    expect(Buffer.byteLength(markedName(name, ' (2)'))).toBeLessThanOrEqual(255)
    expect(extensionOf(name)).not.toContain('/')
  })
  holds('of folders are refused or stay as they are', anyText, (text) => {
    const name = refusing(() => parseFolderName(text))
    if (name !== null) expect(parseFolderName(name)).toBe(name)
  })
  holds('of accounts are refused or in lower case', anyText, (text) => {
    const name = refusing(() => parseUsername(text))
    if (name !== null) expect(name).toMatch(/^[a-z0-9._-]{3,32}$/)
  })
  holds('sort by keys that do not change with case', anyText, (text) => {
    const name = text.toWellFormed()
    expect(sortKey(foldName(name))).toBe(sortKey(name))
    expect(foldName(foldName(name))).toBe(foldName(name))
  })
  holds(
    'in zips lead nowhere else and differ from each other',
    fc.array(anyText, { minLength: 1, maxLength: 12 }),
    (texts) => {
      const names = zipNames()
      // No name that is stored has a NUL.
      const taken = texts.map((text) => names.take(text.replaceAll('\0', '')))
      for (const name of taken) {
        expect(name).not.toMatch(/[/\\:]/)
        expect(['', '.', '..']).not.toContain(name)
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
      }
      expect(new Set(taken.map(foldName)).size).toBe(taken.length)
    },
  )
  holds('come back from Content-Disposition', anyText, (text) => {
    const name = text.toWellFormed()
    const header = contentDisposition('attachment', name)
    expect(header).toMatch(/^[\x20-\x7e]*$/)
    const extended = /filename\*=UTF-8''(.*)$/.exec(header)?.[1]
    const plain = /filename="([^"]*)"/.exec(header)?.[1]
    expect(extended === undefined ? plain : decodeURIComponent(extended)).toBe(name)
  })
})

describe('other text', () => {
  holds('is a mail address that keeps its form, or none', fc.oneof(fc.emailAddress(), anyText), (text) => {
    const address = parseMailAddress(text)
    if (address !== null) {
      expect(address).not.toMatch(/[\r\n,<>]/)
      expect(parseMailAddress(address)).toBe(address)
    }
    parseSender(text)
  })
  holds('is a size, or none', headerText('10', 'GB', 'MiB', '.', ' ', 'k'), (text) => {
    const size = parseSize(text)
    if (size !== null) expect(Number.isSafeInteger(size) && size >= 0).toBe(true)
  })
  holds(
    'is a date of HTTP, or none',
    headerText('Sun, ', '06 Nov 1994 ', '08:49:37', ' GMT', 'Sunday, 06-Nov-94 '),
    (text) => {
      const time = parseHttpDate(text)
      if (time !== null) expect(Number.isInteger(time)).toBe(true)
    },
  )
  const trusted = parseTrustedProxies(['127.0.0.0/8', '::1'])
  holds(
    'forwards an address, or none',
    headerText('1.2.3.4', '::1', ',', '[::ffff:1.2.3.4]:80', 'unknown', '127.0.0.1'),
    (header) => {
      const address = clientAddress('127.0.0.1', header, trusted)
      expect(address).not.toBe('')
      expect(addressBucket(address)).not.toBe('')
    },
  )
  holds('is a cookie as it was set, or none', headerText('a=', 'b', ';', 'session=x', ' '), (header) => {
    const value = cookieValue(new Request('http://a', { headers: { cookie: header } }), 'session')
    if (value !== null) expect(header).toContain(`session=${value}`)
  })
})
