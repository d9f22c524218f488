import type { Config } from '../../config.ts'
import { SLOW_ANSWER } from '../../contract/health.ts'
import { unknownProxies } from '../../core/unknown-proxies.ts'
import type { Queryable } from '../../database/database.ts'
import { SECOND } from '../../domain/clock.ts'
import { formatSize } from '../../domain/sizes.ts'
import { parseTrustedProxies } from '../../server/call.ts'
import { settings } from '../../settings.ts'
import { advice, type Finding, fine, problem, say, unknown } from './findings.ts'
import { linesFor, proxyLines } from './proxy-lines.ts'
import {
  ANSWER_TIMEOUT,
  describeAnswer,
  isNoAnswer,
  type NoAnswer,
  PROBE,
  type ProbePath,
  type ProbeResult,
  portOf,
  probe,
} from './raw-request.ts'

/** Whether requests pass the proxy with all that says who asks for what. */

/** Reserved for documentation (RFC 5737): nobody's address. */
const FORGED = '198.51.100.7'
/** What a request with a body sends. */
const BYTE = new Uint8Array(1)

/** Whether a proxy stands between: one that says so, adds a header, speaks TLS, or listens elsewhere. */
function isProxied({ url, config, proxy, seen }: ProbePath): boolean {
  return (
    proxy !== null || seen.forwarded_for !== null || url.protocol === 'https:' || portOf(url) !== config.port
  )
}

export async function checkForwarding(way: ProbePath): Promise<Finding> {
  const check = 'forwarded-address'
  if (!isProxied(way)) return fine(check, say`no proxy: visitors are counted by their own addresses`)
  const forged = await probe(way, { headers: { 'X-Forwarded-For': FORGED } })
  if (isNoAnswer(forged) || forged.seen === null)
    return unknown(check, say`no answer: ${describeAnswer(forged)}`)
  // What the proxy has added itself stands last.
  if (forged.seen.forwarded_for?.split(',').at(-1)?.trim() === FORGED) {
    return problem(
      check,
      say`visitors can choose the address by which they are counted: the proxy passes on what they send as X-Forwarded-For`,
      say`Limits for guests hold nobody back, and logs and reports name addresses that are made up.`,
      linesFor(proxyLines.forgedAddress, way.proxy),
    )
  }
  const { seen } = way
  if (seen.forwarded_for === null) {
    return problem(
      check,
      say`the proxy does not say who asks: every visitor appears as ${seen.peer}`,
      say`All guests share one limit, and none of them can be told from another.`,
      linesFor(proxyLines.noForwardedAddress, way.proxy),
    )
  }
  if (!parseTrustedProxies(way.config.trustedProxies).has(seen.peer)) {
    return problem(
      check,
      say`requests come from ${seen.peer}, which is not a trusted proxy`,
      say`All guests share one limit, because the forwarded address of each is not believed.`,
      [{ where: 'Holdfast', line: `${settings.trustedProxies.variable}=${seen.peer}` }],
    )
  }
  return fine(check, say`visitors are told apart (this machine is ${seen.address})`)
}

/** Whether requests come by a proxy that nobody named: seen by the servers themselves, whatever the public address is. */
export async function checkProxies(
  db: Queryable,
  config: Pick<Config, 'trustedProxies'>,
  now: number,
): Promise<Finding> {
  const check = 'unknown-proxy'
  const seen = await unknownProxies(db, parseTrustedProxies(config.trustedProxies), now)
  const last = seen.at(-1)
  if (last === undefined) return fine(check, say`no request came by a proxy that is not trusted`)
  return problem(
    check,
    say`${last.peer} sends "${last.header}" and is not a trusted proxy`,
    say`All visitors who come by it count as one: wrong passwords of a stranger lock everybody out.`,
    [
      {
        where: 'Holdfast',
        line: `${settings.trustedProxies.variable}=${seen.map(({ peer }) => peer).join(',')}`,
      },
    ],
  )
}

export async function checkHost({ url, config, proxy, seen }: ProbePath): Promise<Finding> {
  // Without the port, as nginx's $host is, names are still told apart, but for two addresses with one name.
  const isOneName = config.contentUrl !== null && new URL(config.contentUrl).hostname === url.hostname
  if (seen.host === url.host || (seen.host === url.hostname && !isOneName))
    return fine('host', say`requests arrive for ${url.host}`)
  return problem(
    'host',
    say`the proxy changes the host name: ${url.host} arrives as ${seen.host ?? '-'}`,
    say`A second host name for content cannot be told from the first, and forms of the site are refused as foreign.`,
    linesFor(proxyLines.host, proxy),
  )
}

export async function checkMethods(way: ProbePath): Promise<Finding> {
  const answers = await Promise.all(
    (['PUT', 'PATCH', 'HEAD'] as const).map(async (method) => {
      const hasBody = method !== 'HEAD'
      const answer = await probe(way, {
        method,
        headers: hasBody ? { 'Content-Length': '1' } : {},
        ...(hasBody ? { body: [{ bytes: BYTE, after: 0 }] } : {}),
      })
      const arrived =
        !isNoAnswer(answer) && answer.status === 200 && (!hasBody || answer.seen?.method === method)
      return { method, arrived }
    }),
  )
  const lost = answers.filter(({ arrived }) => !arrived).map(({ method }) => method)
  if (lost.length === 0) return fine('methods', say`PUT, PATCH and HEAD arrive`)
  return problem(
    'methods',
    say`requests with these methods do not arrive: ${lost.join(', ')}`,
    say`Resumable uploads need all of them, and so do programs that change files.`,
    linesFor(proxyLines.methods, way.proxy),
  )
}

export async function checkRanges(way: ProbePath): Promise<Finding> {
  const range = 'bytes=10-19'
  const answer = await probe(way, { headers: { Range: range } })
  if (isNoAnswer(answer) || answer.seen === null)
    return unknown('ranges', say`no answer: ${describeAnswer(answer)}`)
  if (answer.seen.range === range) return fine('ranges', say`requests for a part of a file arrive`)
  return problem(
    'ranges',
    say`the proxy takes the Range header away`,
    say`Downloads cannot be resumed, and videos cannot be skipped through.`,
    linesFor(proxyLines.ranges, way.proxy),
  )
}

const PIECE = new Uint8Array(64 * 1024)
/** Milliseconds between the two pieces of a body; an unbuffered first piece arrives at least half of it earlier. */
const BETWEEN = 1.5 * SECOND
/** Milliseconds in which a proxy refuses a body by its length. */
const REFUSES_WITHIN = 3 * SECOND
const GAVE_UP: readonly number[] = [408, 502, 504]

export async function checkBodyLimit(way: ProbePath): Promise<Finding> {
  const check = 'body-limit'
  const size = way.config.maxFileSize
  const answer = await probe(way, {
    method: 'PUT',
    headers: { 'Content-Length': String(size), Expect: '100-continue' },
    within: REFUSES_WITHIN,
  })
  if (isNoAnswer(answer) && answer.failure === 'silent') {
    return fine(check, say`an upload may announce ${formatSize(size)}`)
  }
  if (!isNoAnswer(answer) && GAVE_UP.includes(answer.status)) {
    return unknown(check, say`the proxy gave up waiting (${describeAnswer(answer)}) before it could be seen`)
  }
  return problem(
    check,
    say`a body of ${formatSize(size)} is refused before it comes (${describeAnswer(answer)})`,
    say`Uploads that ${settings.maxFileSize.variable} allows end with an error that Holdfast never sees.`,
    linesFor(proxyLines.bodyLimit, way.proxy),
  )
}

export async function checkRequestBuffering(way: ProbePath): Promise<Finding> {
  const check = 'request-buffering'
  // A busy machine may delay the first piece too: look twice.
  for (const between of [BETWEEN, 3 * BETWEEN]) {
    const answer = await sendInTwo(way, between)
    const body = isNoAnswer(answer) ? null : (answer.seen?.body ?? null)
    if (body === null || body.first_after === null || body.last_after === null) {
      return problem(
        check,
        say`an upload did not arrive: ${describeAnswer(answer)}`,
        say`Files cannot be uploaded through this address.`,
      )
    }
    if (body.last_after - body.first_after > between / 2)
      return fine(check, say`uploads arrive as they are sent`)
  }
  return problem(
    check,
    say`the proxy keeps uploads until they are whole`,
    say`Each upload is written to its disk first and takes twice as long, progress is wrong, large ones end in time-outs, and what was sent before a line broke is lost.`,
    linesFor(proxyLines.requestBuffering, way.proxy),
  )
}

function sendInTwo(way: ProbePath, between: number): Promise<ProbeResult | NoAnswer> {
  return probe(way, {
    method: 'PUT',
    headers: { 'Content-Length': String(2 * PIECE.length), 'Content-Type': 'application/octet-stream' },
    body: [
      { bytes: PIECE, after: 0 },
      { bytes: PIECE, after: between },
    ],
  })
}

export async function checkResponseBuffering(way: ProbePath): Promise<Finding> {
  const check = 'response-buffering'
  const answer = await probe(way, { path: `${PROBE}?slow=true` })
  if (isNoAnswer(answer) || !answer.body.endsWith(SLOW_ANSWER.end)) {
    return unknown(check, say`a slow answer did not arrive: ${describeAnswer(answer)}`)
  }
  if (answer.endedAfter - answer.firstAfter > SLOW_ANSWER.pause / 2)
    return fine(check, say`answers arrive as they are sent`)
  return advice(
    check,
    say`the proxy holds answers back`,
    say`Downloads wait in its memory or on its disk, and what the site shows as it happens comes late.`,
    linesFor(proxyLines.responseBuffering, way.proxy),
  )
}

export async function checkSilence(way: ProbePath): Promise<Finding> {
  const check = 'time-out'
  const { silence } = way
  if (silence === 0) return unknown(check, say`left out`)
  const answer = await probe(way, {
    path: `${PROBE}?silence=${silence}`,
    within: silence * SECOND + ANSWER_TIMEOUT,
  })
  if (!isNoAnswer(answer) && answer.status === 200) return fine(check, say`an answer may take ${silence} s`)
  const after = isNoAnswer(answer) ? answer.after : answer.endedAfter
  return problem(
    check,
    say`after ${Math.round(after / SECOND)} s without an answer the proxy gives up (${describeAnswer(answer)})`,
    say`The answer to a large upload comes after all of it is safe on disk, which may take minutes: the file is stored, and its sender sees an error.`,
    linesFor(proxyLines.silence, way.proxy),
  )
}
