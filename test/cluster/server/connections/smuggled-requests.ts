/** Ways to hide a request in the body of another, for parsers that disagree on where a body ends. */

const HIDDEN = '/hidden'
/** If this is ever answered as a request, somebody has been misled. */
const HIDDEN_REQUEST = `GET ${HIDDEN} HTTP/1.1\r\nHost: a\r\n\r\n`
const LENGTH = HIDDEN_REQUEST.length
const ENDED = `0\r\n\r\n${HIDDEN_REQUEST}`
const IN_CHUNK = `${LENGTH.toString(16)}\r\n${HIDDEN_REQUEST}\r\n0\r\n\r\n`

export interface Variant {
  readonly name: string
  /** The bytes, to be sent to that path. */
  readonly bytes: (path: string) => Buffer
  /** How it is read: the bodies of the requests in it, one after the other; none where it is refused. */
  readonly read: readonly string[]
}

const REFUSED: readonly string[] = []

function raw(name: string, read: readonly string[], text: (path: string) => string): Variant {
  return { name, read, bytes: (path) => Buffer.from(text(path), 'latin1') }
}

function post(name: string, read: readonly string[], headers: string, body: string): Variant {
  return raw(name, read, (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`)
}

const chunked = (name: string, read: readonly string[], body: string) =>
  post(name, read, 'Transfer-Encoding: chunked', body)

const lengths: readonly Variant[] = [
  post(
    'a length and chunks',
    REFUSED,
    `Content-Length: ${ENDED.length}\r\nTransfer-Encoding: chunked`,
    ENDED,
  ),
  post('chunks and a length', REFUSED, 'Transfer-Encoding: chunked\r\nContent-Length: 4', IN_CHUNK),
  post(
    'two lengths, the first shorter',
    REFUSED,
    `Content-Length: 0\r\nContent-Length: ${LENGTH}`,
    HIDDEN_REQUEST,
  ),
  post(
    'two lengths, the first longer',
    REFUSED,
    `Content-Length: ${LENGTH}\r\nContent-Length: 0`,
    HIDDEN_REQUEST,
  ),
  post('two equal lengths', ['hello'], 'Content-Length: 5\r\nContent-Length: 5', 'hello'),
  ...[
    `0, ${LENGTH}`,
    '0, 0',
    `+${LENGTH}`,
    '-1',
    '0x0',
    `0 ${LENGTH}`,
    '',
    '9'.repeat(23),
    '18446744073709551616',
  ].map((length) => post(`the length "${length}"`, REFUSED, `Content-Length: ${length}`, HIDDEN_REQUEST)),
  post('a length with a zero before it', [HIDDEN_REQUEST], `Content-Length: 0${LENGTH}`, HIDDEN_REQUEST),
]

const codings: readonly Variant[] = [
  ...[
    'xchunked',
    'chunked, identity',
    'chunked, chunked',
    '"chunked"',
    'chunked\xa0',
    'chunked\0',
    '\x0bchunked',
  ].map((coding) =>
    post(`the coding ${JSON.stringify(coding)}`, REFUSED, `Transfer-Encoding: ${coding}`, ENDED),
  ),
  post(
    'an unknown coding beside a length',
    REFUSED,
    `Transfer-Encoding: identity\r\nContent-Length: ${LENGTH}`,
    HIDDEN_REQUEST,
  ),
  post(
    'chunks that are not the last coding',
    REFUSED,
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    ENDED,
  ),
  post(
    'a coding whose name has an underscore, which is a header like others',
    [ENDED],
    `Transfer_Encoding: chunked\r\nContent-Length: ${ENDED.length}`,
    ENDED,
  ),
]

const withLength = `Content-Length: ${ENDED.length}`
const headers: readonly Variant[] = [
  post(
    'a space before the colon of a coding',
    REFUSED,
    `Transfer-Encoding : chunked\r\n${withLength}`,
    ENDED,
  ),
  post('a space before the colon of a length', REFUSED, `Content-Length : ${LENGTH}`, HIDDEN_REQUEST),
  post('a space before a header', REFUSED, ` Content-Length: ${LENGTH}`, HIDDEN_REQUEST),
  post('a folded header', REFUSED, `X: y\r\n Transfer-Encoding: chunked\r\n${withLength}`, ENDED),
  post('a folded coding', REFUSED, `Transfer-Encoding:\r\n chunked\r\n${withLength}`, ENDED),
  post('a header that a bare LF ends', REFUSED, `X: y\nTransfer-Encoding: chunked\r\n${withLength}`, ENDED),
  post('a header that a bare CR ends', REFUSED, `X: y\rContent-Length: ${LENGTH}`, HIDDEN_REQUEST),
  post('a NUL in a name', REFUSED, 'X\0: y\r\nContent-Length: 0', ''),
  post('a NUL in a value', REFUSED, 'X: a\0b\r\nContent-Length: 0', ''),
  post('a header without a colon', REFUSED, 'Garbage\r\nContent-Length: 0', ''),
  post('a header without a name', REFUSED, ': y\r\nContent-Length: 0', ''),
  raw('a head with bare LF alone', REFUSED, (path) =>
    [`POST ${path} HTTP/1.1`, 'Host: a', `Content-Length: ${LENGTH}`, '', HIDDEN_REQUEST].join('\n'),
  ),
  raw(
    'chunks in HTTP/1.0 beside a length',
    REFUSED,
    (path) =>
      `POST ${path} HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${withLength}\r\n\r\n${ENDED}`,
  ),
]

const BODY = `5\r\nhello\r\n0\r\n\r\n`
const chunks: readonly Variant[] = [
  chunked('a chunk with an extension', ['hello'], '5;a=b\r\nhello\r\n0\r\n\r\n'),
  chunked('an extension that a bare LF ends', REFUSED, `5;a\nhello\r\n0\r\n\r\n${HIDDEN_REQUEST}`),
  chunked('an extension with a bare CR', REFUSED, `5;a\rb\r\nhello\r\n0\r\n\r\n${HIDDEN_REQUEST}`),
  ...['ffffffffffffffff0', '10000000000000005', '-5', '0x5', '5 ', ' 5', ''].map((size) =>
    chunked(`the size of a chunk "${size}"`, REFUSED, `${size}\r\nhello\r\n0\r\n\r\n${HIDDEN_REQUEST}`),
  ),
  chunked('chunks that bare LF end', REFUSED, `${BODY.replaceAll('\r', '')}${HIDDEN_REQUEST}`),
  chunked('a chunk without an end', REFUSED, `5\r\nhello0\r\n\r\n${HIDDEN_REQUEST}`),
  chunked('a chunk longer than it says', REFUSED, `5\r\nhelloXX0\r\n\r\n${HIDDEN_REQUEST}`),
]

const lines: readonly Variant[] = [
  raw('two spaces in the first line', REFUSED, (path) => `GET  ${path} HTTP/1.1\r\nHost: a\r\n\r\n`),
  raw('tabs in the first line', REFUSED, (path) => `GET\t${path}\tHTTP/1.1\r\nHost: a\r\n\r\n`),
  raw('a space in the path', REFUSED, (path) => `GET ${path} ${HIDDEN} HTTP/1.1\r\nHost: a\r\n\r\n`),
  raw('HTTP/1.2', REFUSED, (path) => `GET ${path} HTTP/1.2\r\nHost: a\r\n\r\n`),
  raw('HTTP/0.9', REFUSED, (path) => `GET ${path}\r\n\r\n${HIDDEN_REQUEST}`),
  raw('line breaks before the request', [''], (path) => `\r\n\r\nGET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`),
  raw('a whole address', [''], (path) => `GET http://b${path} HTTP/1.1\r\nHost: a\r\n\r\n`),
  raw(
    'a whole address of something else',
    REFUSED,
    (path) => `GET ftp://b${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
  ),
  raw('a request after one without Host', REFUSED, (path) => `GET ${path} HTTP/1.1\r\n\r\n${HIDDEN_REQUEST}`),
  ...['GET', 'HEAD'].map((method) =>
    raw(
      `a body beside ${method}`,
      [''],
      (path) => `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${LENGTH}\r\n\r\n${HIDDEN_REQUEST}`,
    ),
  ),
  ...['DELETE', 'OPTIONS'].map((method) =>
    raw(
      `a body beside ${method}`,
      [HIDDEN_REQUEST],
      (path) => `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${LENGTH}\r\n\r\n${HIDDEN_REQUEST}`,
    ),
  ),
  raw(
    'two requests one after the other',
    ['hello', ''],
    (path) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
  ),
]

export const variants: readonly Variant[] = [...lengths, ...codings, ...headers, ...chunks, ...lines]
