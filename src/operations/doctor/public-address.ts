import { connect, type TLSSocket } from 'node:tls'
import type { Config } from '../../config.ts'
import { DAY, HOUR, SECOND } from '../../domain/clock.ts'
import { settings } from '../../settings.ts'
import { advice, type Finding, fine, problem, say, unknown } from './findings.ts'
import {
  checkBodyLimit,
  checkForwarding,
  checkHost,
  checkMethods,
  checkRanges,
  checkRequestBuffering,
  checkResponseBuffering,
  checkSilence,
} from './forwarding.ts'
import { linesFor, proxyLines, proxyOf } from './proxy-lines.ts'
import {
  ANSWER_TIMEOUT,
  describeAnswer,
  isNoAnswer,
  type NoAnswer,
  type ProbePath,
  type ProbeResult,
  type PublicAddress,
  portOf,
  probe,
  type RawAnswer,
  rawRequest,
  serverName,
} from './raw-request.ts'
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

const MAY_TAKE = 10 * SECOND
/** ACME clients renew at a third of any lifetime; at a sixth, renewal has failed. Yearly ones: by hand, later. */
const RENEWED_BEFORE = { share: 1 / 6, most: 14 * DAY }

interface Handshake {
  readonly fault: string | null
  readonly beganAt: number | null
  readonly endsAt: number | null
  readonly speaksHttp2: boolean
}

export async function checkTls(url: URL, health: RawAnswer | NoAnswer): Promise<Finding[]> {
  if (url.protocol !== 'https:') return [withoutTls(url)]
  const handshake = await handshakeWith(url).catch((error: Error) => error)
  if (handshake instanceof Error)
    return [unknown('certificate', say`no TLS connection: ${handshake.message}`)]
  const http2 = handshake.speaksHttp2
    ? fine('http2', say`HTTP/2 is offered`)
    : advice(
        'http2',
        say`HTTP/2 is not offered`,
        say`Pages with many thumbnails load one after another in batches of six.`,
        [
          { where: 'nginx', line: `listen ${portOf(url)} ssl http2;` },
          { where: 'Apache', line: 'Protocols h2 http/1.1' },
          { where: 'HAProxy', line: `bind :${portOf(url)} ssl crt … alpn h2,http/1.1` },
        ],
      )
  return [certificate(handshake, Date.now()), http2, hsts(health), await fromHttp(url)]
}

function withoutTls(url: URL): Finding {
  const isLocal = /^(localhost|127\.|\[::1\])/.test(url.hostname)
  if (isLocal) return fine('certificate', say`${url.origin} is this machine`)
  return problem(
    'certificate',
    say`${url.origin} is not encrypted`,
    say`Passwords, keys and files can be read by everybody on the way.`,
    [{ where: 'Caddy', line: `${url.hostname} { reverse_proxy 127.0.0.1:3000 }` }],
  )
}

function handshakeWith(url: URL): Promise<Handshake> {
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>()
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const socket: TLSSocket = connect({
    host,
    port: portOf(url),
    servername: serverName(host),
    // An invalid certificate becomes a finding, not an error.
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
  })
  const timer = setTimeout(() => reject(new Error(`no answer in ${MAY_TAKE / SECOND} s`)), MAY_TAKE)
  socket.once('error', reject)
  socket.once('secureConnect', () => {
    const { valid_from: begins, valid_to: ends } = socket.getPeerCertificate()
    const fault = socket.authorized ? null : String(socket.authorizationError ?? 'it is not trusted')
    resolve({
      fault,
      beganAt: begins === undefined ? null : Date.parse(begins),
      endsAt: ends === undefined ? null : Date.parse(ends),
      speaksHttp2: socket.alpnProtocol === 'h2',
    })
  })
  return promise.finally(() => {
    clearTimeout(timer)
    socket.destroy()
  })
}

export function certificate(
  { fault, beganAt, endsAt }: Omit<Handshake, 'speaksHttp2'>,
  now: number,
): Finding {
  if (fault !== null) {
    return problem(
      'certificate',
      say`the certificate is not valid: ${fault}`,
      say`Browsers warn of the site, and programs refuse it.`,
    )
  }
  if (endsAt === null) return unknown('certificate', say`the certificate does not say when it ends`)
  const left = endsAt - now
  const isInDays = left >= 2 * DAY
  const time = Math.floor(left / (isInDays ? DAY : HOUR))
  const share = beganAt === null ? Infinity : (endsAt - beganAt) * RENEWED_BEFORE.share
  if (left > Math.min(share, RENEWED_BEFORE.most)) {
    return fine(
      'certificate',
      isInDays
        ? say`the certificate is valid for ${time} more days`
        : say`the certificate is valid for ${time} more hours`,
    )
  }
  return problem(
    'certificate',
    isInDays ? say`the certificate ends in ${time} days` : say`the certificate ends in ${time} hours`,
    say`It should have been renewed by now; without it nobody gets in.`,
    [{ where: 'certbot', line: 'certbot renew --dry-run' }],
  )
}

function hsts(health: RawAnswer | NoAnswer): Finding {
  if ('failure' in health) return unknown('hsts', say`no answer: ${health.reason}`)
  if (health.headers.has('strict-transport-security'))
    return fine('hsts', say`browsers are told to use https`)
  return advice(
    'hsts',
    say`the proxy takes Strict-Transport-Security away`,
    say`Somebody on the way can send a visitor to http.`,
    [{ where: 'nginx', line: 'remove "proxy_hide_header Strict-Transport-Security"' }],
  )
}

async function fromHttp(url: URL): Promise<Finding> {
  // Browsers use port 80 only for addresses without a port.
  if (url.port !== '') return fine('from-http', say`https is not on its usual port: http need not lead there`)
  const plain = new URL(`http://${url.hostname}/`)
  const answer = await rawRequest(plain, { method: 'GET', path: '/', headers: {}, within: MAY_TAKE })
  const leads = 'failure' in answer ? null : answer.headers.get('location')
  if (leads?.startsWith('https:')) return fine('from-http', say`http leads to https`)
  return advice(
    'from-http',
    say`${plain.origin} does not lead to https`,
    say`Who types the name without https sees an error.`,
    [{ where: 'nginx', line: 'server { listen 80; return 301 https://$host$request_uri; }' }],
  )
}
