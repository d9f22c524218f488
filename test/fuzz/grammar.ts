/** Requests as no well-behaved client would send them, made from a grammar by chance. */
import type { Chance } from '../support/chance.ts'

export interface Route {
  readonly method: string
  /** With parameters in braces. */
  readonly path: string
}

export interface Known {
  readonly routes: readonly Route[]
  readonly apiKey: string
  /** Identifiers that exist: slugs, UUIDs, numbers, folders, addresses of uploads. */
  readonly identifiers: readonly string[]
}

/** Text that parsers stumble over. */
const ODD_TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  '1e9',
  '9007199254740993',
  '99999999999999999999',
  'null',
  'undefined',
  'NaN',
  '[]',
  '{}',
  'true',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '%00',
  '%',
  '%zz',
  '%c0%ae',
  "' or 1=1 --",
  '"; drop table files; --',
  '\u202egnp.exe',
  'ß'.repeat(200),
  'e\u0301'.repeat(90),
  '😀'.repeat(70),
  '\ud800',
  'a'.repeat(300),
  'a'.repeat(9000),
  '<script>alert(1)</script>',
  '\u0024{7*7}',
  'con',
  'nul.txt',
  'a\tb',
  'a\u0000b',
]

const HEADER_VALUES: Readonly<Record<string, readonly string[]>> = {
  Range: [
    'bytes=0-0',
    'bytes=-1',
    'bytes=5-',
    'bytes=9-3',
    'bytes=0-,0-,0-,0-',
    'bytes=999999999999999999999-',
    'bytes=a-b',
    'lines=1-2',
    `bytes=${'0-1,'.repeat(500)}`,
  ],
  'If-Range': ['"x"', 'W/"x"', 'Sun, 06 Nov 1994 08:49:37 GMT', 'x'],
  'If-None-Match': ['*', '"x"', 'W/"x", "y"', ',,,', '"'.repeat(99)],
  'If-Modified-Since': ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'never', '0'],
  'Content-Type': [
    'application/json',
    'application/json; charset=utf-16',
    'text/plain',
    'multipart/form-data',
    'multipart/form-data; boundary=b',
    'multipart/form-data; boundary="b',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
    'application/x-www-form-urlencoded',
    'application/offset+octet-stream',
    '/',
  ],
  'Tus-Resumable': ['1.0.0', '0.2.2', '', 'x'],
  'Upload-Length': ['0', '5', '-5', '1e3', '99999999999999999999', 'x'],
  'Upload-Offset': ['0', '3', '-1', '00', '99999999999999999999'],
  'Upload-Defer-Length': ['1', '0', 'x'],
  'Upload-Metadata': [
    'filename YS50eHQ=',
    'filename',
    'filename YS50eHQ=,filename YS50eHQ=',
    'filename !!!',
    `filename ${'A'.repeat(9000)}`,
    ',,,',
    '__proto__ YQ==',
    'folder cm9vdA==,filename 4pi6',
  ],
  'Upload-Concat': [
    'partial',
    'final;',
    'final;/api/v1/uploads/x',
    `final;${'/api/v1/uploads/0 '.repeat(300)}`,
  ],
  'Upload-Checksum': ['sha1 AAAA', 'md5 AAAA', 'sha256', 'crc32c AAAAAA=='],
  'Idempotency-Key': ['k', '"k"', 'k'.repeat(300), ''],
  Cookie: ['a=b', '=', ';;;;', 'holdfast=x', `a=${'x'.repeat(4000)}`, '__Host-holdfast.session=x'],
  'X-Forwarded-For': ['1.2.3.4', '::1, x, 1.2.3.4:99', ','.repeat(500)],
  'Content-Encoding': ['gzip', 'identity', 'x'],
  'Accept-Encoding': ['gzip', 'br;q=0, *;q=0', 'q=q=q'],
  'Accept-Language': ['de', 'x'.repeat(100), '*;q=0.0001, de-DE-1996'],
  Accept: ['text/html', 'application/json', '*/*;q=x'],
  Origin: ['null', 'https://elsewhere.example', 'x'],
  'Sec-Fetch-Site': ['same-origin', 'cross-site', 'x'],
  Expect: ['100-continue', 'x'],
  'Folder-Password': ['x', 'ß'],
}

const JSON_BODIES = [
  '',
  '{',
  '{}',
  '[]',
  'null',
  '"x"',
  '1e999',
  '{"__proto__":{"x":1}}',
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  `{"identifiers":[${'"x",'.repeat(2000)}"x"]}`,
  '{"identifiers":[1,null,{},"x"]}',
  '{"name":"\\u0000"}',
  '{"name":"\\ud800"}',
  '{"name":1,"folder":[],"password":{}}',
]

/** One request, head and body. */
export function oddRequest(random: Chance, known: Known): Buffer {
  const { method, path } = random.pick(known.routes)
  const verb = random.fraction() < 0.05 ? random.pick(['TRACE', 'PROPFIND', 'get', 'X', method]) : method
  const target = oddTarget(random, path, known)
  const headers: [string, string][] = [['Host', random.fraction() < 0.97 ? 'files.example' : oddText(random)]]
  if (random.fraction() < 0.6) headers.push(['Authorization', `Bearer ${known.apiKey}`])
  for (let count = random.whole(0, 4); count > 0; count--) {
    const name = random.pick(Object.keys(HEADER_VALUES))
    const values = HEADER_VALUES[name] ?? []
    headers.push([name, random.fraction() < 0.85 ? random.pick(values) : oddText(random)])
  }
  const body =
    ['GET', 'HEAD', 'OPTIONS', 'DELETE'].includes(method) && random.fraction() < 0.9
      ? null
      : oddBody(random, known)
  if (body !== null) headers.push(...framing(random, body))
  if (random.fraction() < 0.5) headers.push(['Connection', 'close'])
  const head = `${verb} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${inHeader(value)}\r\n`).join('')}\r\n`
  const bytes = Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)])
  return random.fraction() < 0.06 ? damaged(random, bytes) : bytes
}

function oddText(random: Chance): string {
  if (random.fraction() < 0.8) return random.pick(ODD_TEXTS)
  return Buffer.from(random.bytes(random.whole(1, 40))).toString('latin1')
}

/** As octets; a bare line break would end the header. */
const inHeader = (text: string) =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[\r\n\0]/g, ' ')

function oddTarget(random: Chance, path: string, { identifiers }: Known): string {
  const filled = path.replace(/\{[^}]+\}/g, () =>
    random.fraction() < 0.6 ? random.pick(identifiers) : inPath(oddText(random)),
  )
  const query: string[] = []
  for (let count = random.whole(0, 3) - 1; count > 0; count--) {
    const name = random.pick([
      'page',
      'per_page',
      'sort',
      'order',
      'search',
      'totals',
      'token',
      'download',
      'folder',
      'name',
      'x',
    ])
    query.push(`${name}=${inPath(oddText(random))}`)
  }
  return filled + (query.length === 0 ? '' : `?${query.join('&')}`)
}

/** Percent-encoded where a request line could not hold it, and left as it is elsewhere. */
const inPath = (text: string) =>
  text.toWellFormed().replace(/[\s#?]|[^\x21-\x7e]/gu, (character) => encodeURIComponent(character))

function oddBody(random: Chance, known: Known): Buffer {
  switch (random.whole(0, 4)) {
    case 0:
      return Buffer.from(random.pick(JSON_BODIES))
    case 1:
      return Buffer.from(
        JSON.stringify(
          Object.fromEntries(
            [
              'name',
              'folder',
              'identifiers',
              'password',
              'slug',
              'file_slug',
              'is_public',
              'identifier',
              'job',
              'text',
            ]
              .filter(() => random.fraction() < 0.4)
              .map((field) => [
                field,
                random.pick<unknown>([
                  oddText(random),
                  random.pick(known.identifiers),
                  1,
                  null,
                  [],
                  [random.pick(known.identifiers)],
                  true,
                ]),
              ]),
          ),
        ),
      )
    case 2:
      return multipart(random)
    case 3:
      return Buffer.from(random.bytes(random.whole(0, 3000)))
    default:
      return Buffer.from(
        `username=${inPath(oddText(random))}&password=${inPath(oddText(random))}&next=${inPath(oddText(random))}`,
      )
  }
}

function multipart(random: Chance): Buffer {
  const line = () => random.pick(['\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', ''])
  const parts = Array.from({ length: random.whole(0, 4) }, () => {
    const disposition = random.pick([
      'form-data; name="file"; filename="a.txt"',
      `form-data; name="file"; filename="${oddText(random).replace(/[\r\n"]/g, '')}"`,
      'form-data; name="file"; filename*=utf-8\'\'%f0%9f%98%80.txt',
      'form-data; name="folder"',
      'form-data; name="file"; name="file"',
      'attachment',
      'form-data; name="file',
    ])
    return `--b${line()}Content-Disposition: ${disposition}${line()}${line()}${oddText(random)}${line()}`
  })
  return Buffer.from(parts.join('') + random.pick(['--b--\r\n', '--b--', '--b', '', '--b--trailing']))
}

/** A length that is right, wrong or twice there, or chunks. */
function framing(random: Chance, body: Buffer): [string, string][] {
  const chosen = random.fraction()
  if (chosen < 0.86) return [['Content-Length', String(body.length)]]
  if (chosen < 0.9) return [['Content-Length', String(Math.max(0, body.length - random.whole(1, 9)))]]
  if (chosen < 0.93)
    return [
      ['Content-Length', '5'],
      ['Content-Length', '6'],
    ]
  if (chosen < 0.96) return [['Transfer-Encoding', 'chunked']]
  if (chosen < 0.98)
    return [
      ['Transfer-Encoding', 'chunked'],
      ['Content-Length', String(body.length)],
    ]
  return [['Transfer-Encoding', random.pick(['gzip, chunked', 'identity', 'x'])]]
}

/** A byte changed, taken out or put in, or the end cut off. */
function damaged(random: Chance, bytes: Buffer): Buffer {
  const at = random.whole(0, bytes.length - 1)
  switch (random.whole(0, 3)) {
    case 0: {
      const changed = Buffer.from(bytes)
      changed[at] = random.whole(0, 255)
      return changed
    }
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])
    case 2:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.bytes(4)), bytes.subarray(at)])
    default:
      return bytes.subarray(0, at)
  }
}
