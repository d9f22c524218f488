import { connect, type TLSSocket } from 'node:tls'
import { DAY, HOUR, SECOND } from '../../domain/clock.ts'
import { advice, type Finding, fine, problem, say, unknown } from './findings.ts'
import { type NoAnswer, portOf, type RawAnswer, rawRequest, serverName } from './raw-request.ts'

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
