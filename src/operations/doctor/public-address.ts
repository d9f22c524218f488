import type { Config } from '../../config.ts'
import { settings } from '../../settings.ts'
import { advice, type Finding, fine, problem, say } from './findings.ts'
import { checkForwarding, checkHost, checkMethods, checkRanges } from './forwarding.ts'
import {
  ANSWER_TIMEOUT,
  describeAnswer,
  isNoAnswer,
  type ProbePath,
  type ProbeResult,
  type PublicAddress,
  probe,
} from './probe-path.ts'
import {
  checkBodyLimit,
  checkRequestBuffering,
  checkResponseBuffering,
  checkSilence,
} from './proxy-buffering.ts'
import { linesFor, proxyLines, proxyOf } from './proxy-lines.ts'
import { type NoAnswer, type RawAnswer, rawRequest } from './raw-request.ts'
import { checkTls } from './tls.ts'
import { checkUploadWindow } from './upload-window.ts'

export async function checkPublicAddress(address: PublicAddress): Promise<Finding[]> {
  const { url, config } = address
  const [health, first] = await Promise.all([
    rawRequest(url, { method: 'GET', path: '/health', headers: {}, within: ANSWER_TIMEOUT }),
    probe(address),
  ])
  const tls = await checkTls(url, health)
  if (isNoAnswer(health)) return [unreachable(url, health), ...tls]
  if (!health.body.includes('"holdfast"')) return [notHoldfast(url, health), ...tls]
  if (isNoAnswer(first) || first.seen === null) return [notThisOne(url, first), ...tls]
  const way: ProbePath = { ...address, proxy: proxyOf(health.headers), seen: first.seen }
  const findings = await Promise.all([
    checkForwarding(way),
    checkHost(way),
    checkBodyLimit(way),
    checkRequestBuffering(way),
    checkResponseBuffering(way),
    checkSilence(way),
    checkMethods(way),
    checkRanges(way),
    checkMetrics(way),
    checkContentAddress(config),
  ])
  // Last, since it would disturb the checks that measure pauses.
  const window = await checkUploadWindow(way)
  return [fine('public-address', reached(way)), ...findings, ...window, ...tls]
}

function reached({ url, proxy }: ProbePath) {
  if (proxy === null) return say`${url.origin} reaches this installation`
  return say`${url.origin} reaches this installation through ${proxy}`
}

function unreachable(url: URL, answer: NoAnswer): Finding {
  return problem(
    'public-address',
    say`${url.origin} does not answer: ${answer.reason}`,
    say`Nobody can open a link that begins with this address, unless only this machine cannot reach it.`,
    [{ where: 'Holdfast', line: `${settings.publicUrl.variable}=<the address that people use>` }],
  )
}

function notHoldfast(url: URL, answer: RawAnswer): Finding {
  return problem(
    'public-address',
    say`${url.origin}/health is answered by something else (status ${answer.status})`,
    say`Links that begin with this address do not lead to this server.`,
    [{ where: 'Holdfast', line: `${settings.publicUrl.variable}=<the address that people use>` }],
  )
}

function notThisOne(url: URL, answer: ProbeResult | NoAnswer): Finding {
  return problem(
    'public-address',
    say`${url.origin} is a Holdfast that does not know this installation (${describeAnswer(answer)})`,
    say`The address leads to another installation or to an older version, or the proxy drops headers that it does not know.`,
  )
}

async function checkMetrics({ url, config, proxy }: ProbePath): Promise<Finding> {
  if (config.metrics === null || config.metrics.token !== null)
    return fine('metrics', say`metrics are not public`)
  const answer = await rawRequest(url, {
    method: 'GET',
    path: '/metrics',
    headers: {},
    within: ANSWER_TIMEOUT,
  })
  if (isNoAnswer(answer) || answer.status !== 200) return fine('metrics', say`metrics are not public`)
  return problem(
    'metrics',
    say`everybody can read ${url.origin}/metrics`,
    say`It tells how much is stored, how many accounts there are and what fails.`,
    [
      ...linesFor(proxyLines.metrics, proxy),
      { where: 'Holdfast', line: `${settings.metricsToken.variable}=<a long random word>` },
    ],
  )
}

async function checkContentAddress({ contentUrl }: Config): Promise<Finding> {
  const check = 'content-address'
  if (contentUrl === null) {
    return advice(
      check,
      say`uploaded files have no host name of their own`,
      say`A browser trusts all that comes from one name alike. A second name keeps what strangers upload apart from the site, should a browser ever run it.`,
      [{ where: 'Holdfast', line: `${settings.contentUrl.variable}=https://<another name of this server>` }],
    )
  }
  const answer = await rawRequest(new URL(contentUrl), {
    method: 'GET',
    path: '/health',
    headers: {},
    within: ANSWER_TIMEOUT,
  })
  if (!isNoAnswer(answer) && answer.body.includes('"holdfast"'))
    return fine(check, say`${contentUrl} reaches a Holdfast`)
  return problem(
    check,
    say`${contentUrl} does not reach this server (${describeAnswer(answer)})`,
    say`No file can be opened or downloaded.`,
    [{ where: 'Holdfast', line: `${settings.contentUrl.variable}=<the second name, or nothing>` }],
  )
}
