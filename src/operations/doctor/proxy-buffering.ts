import { SLOW_ANSWER } from '../../contract/health.ts'
import { SECOND } from '../../domain/clock.ts'
import { formatSize } from '../../domain/sizes.ts'
import { settings } from '../../settings.ts'
import { advice, type Finding, fine, problem, say, unknown } from './findings.ts'
import {
  ANSWER_TIMEOUT,
  describeAnswer,
  isNoAnswer,
  PROBE,
  type ProbePath,
  type ProbeResult,
  probe,
} from './probe-path.ts'
import { linesFor, proxyLines } from './proxy-lines.ts'
import type { NoAnswer } from './raw-request.ts'

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
