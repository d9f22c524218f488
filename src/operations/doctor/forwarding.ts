/** Whether requests pass the proxy with all that says who asks for what. */
import type { Config } from '../../config.ts'
import { unknownProxies } from '../../core/unknown-proxies.ts'
import type { Queryable } from '../../database/database.ts'
import { parseTrustedProxies } from '../../server/call.ts'
import { settings } from '../../settings.ts'
import { type Finding, fine, problem, say, unknown } from './findings.ts'
import { describeAnswer, isNoAnswer, type ProbePath, probe } from './probe-path.ts'
import { linesFor, proxyLines } from './proxy-lines.ts'
import { portOf } from './raw-request.ts'

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
