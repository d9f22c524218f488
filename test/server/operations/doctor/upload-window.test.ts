/** How far uploads may be ahead by HTTP/2, through real proxies with their own defaults, beside them and over a long line. */
// Only in test:all: real proxies and a long line; the unit tests have the rules.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadConfig } from '../../../../src/config.ts'
import { createSigning } from '../../../../src/core/hmac.ts'
import { systemClock } from '../../../../src/domain/clock.ts'
import { systemRandom } from '../../../../src/domain/random.ts'
import { createProbes, type ProbePath } from '../../../../src/operations/doctor/raw-request.ts'
import { checkUploadWindow } from '../../../../src/operations/doctor/upload-window.ts'
import { openSecrets } from '../../../../src/operations/secrets.ts'
import { startLongLine } from '../../../support/network/long-line.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { describeWith } from '../../../support/processes/tools.ts'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import { type NginxSite, startNginxSite } from '../../../support/servers/nginx-site.ts'
import {
  type Certificate,
  makeCertificate,
  type ProxyConfiguration,
  startProxy,
} from '../../../support/servers/proxies.ts'

const MEGABYTES = 1024 ** 2
/** Another continent, and a line that is not what holds an upload up. */
const LONG = { roundTrip: 150, rate: 50 * MEGABYTES }

describeWith(['nginx', 'caddy', 'haproxy', 'apache2', 'openssl'], 'an upload by HTTP/2', () => {
  const folder = temporaryFolder()
  let host: TestHoldfast
  let certificate: Certificate
  let token: string
  beforeAll(async () => {
    host = await startHoldfast()
    certificate = await makeCertificate(folder.path)
    const { links } = await openSecrets(host.database, null, systemRandom)
    token = createProbes(createSigning(links), systemClock).token()
  })
  afterAll(async () => {
    await host.stop()
    folder[Symbol.dispose]()
  })

  const looked = (url: string, proxy: ProbePath['proxy'] = null) => {
    const seen = {
      success: true,
      method: 'GET',
      host: null,
      address: '',
      peer: '',
      range: null,
      body: null,
    } as const
    const way = { url: new URL(url), config: loadConfig({}), token, silence: 0, proxy }
    return checkUploadWindow({ ...way, seen: { ...seen, forwarded_for: null } })
  }
  /** Beside the proxy, and over a long line to it: both see the same. */
  const fromNearAndFar = async (port: number) => {
    await using line = await startLongLine(`http://127.0.0.1:${port}`, LONG).then((started) =>
      Object.assign(started, { [Symbol.asyncDispose]: () => started.stop() }),
    )
    const near = await looked(`https://localhost:${port}`)
    const far = await looked(`https://localhost:${new URL(line.url).port}`)
    return [near, far].map(([finding]) => `${finding?.check} ${finding?.level}`)
  }

  const unbuffered = 'proxy_request_buffering off; proxy_http_version 1.1;'
  const anySize = 'client_max_body_size 0;'
  test.each<[string, ProxyConfiguration, 'problem' | 'ok']>([
    ['nginx whose buffer is its own', { tool: 'nginx', lines: unbuffered, around: anySize }, 'problem'],
    [
      'nginx with a large buffer',
      { tool: 'nginx', lines: unbuffered, around: `${anySize} client_body_buffer_size 1m;` },
      'ok',
    ],
    ['HAProxy as it is installed', { tool: 'haproxy', lines: '' }, 'problem'],
    [
      'HAProxy with a larger window',
      { tool: 'haproxy', lines: '', global: 'tune.h2.initial-window-size 1048576' },
      'ok',
    ],
    ['Caddy as it is installed', { tool: 'caddy', lines: '' }, 'ok'],
    ['Apache as it is installed', { tool: 'apache2', lines: '' }, 'problem'],
    ['Apache with a larger window', { tool: 'apache2', lines: '', around: 'H2WindowSize 1048576' }, 'ok'],
  ])('through %s is measured by its round trips, near and far', async (_, configuration, expected) => {
    const port = Number(new URL(host.nodeUrl).port)
    await using proxy = await startProxy({ ...configuration, certificate, http2: true }, port)
    const both = `upload-window ${expected}`
    expect(await fromNearAndFar(proxy.port)).toEqual([both, both])
  })

  test('through the delivered nginx configuration is far enough ahead', async () => {
    const nodes = [Number(new URL(host.nodeUrl).port)]
    await using site: NginxSite = await startNginxSite({
      site: 'holdfast-tls.conf',
      upstream: 'one-node.conf',
      nodes,
    })
    expect(await fromNearAndFar(Number(new URL(site.url).port))).toEqual([
      'upload-window ok',
      'upload-window ok',
    ])
  })

  test('is told with the setting to look at, and not looked at where there is none', async () => {
    const port = Number(new URL(host.nodeUrl).port)
    await using proxy = await startProxy({ tool: 'haproxy', lines: '', certificate, http2: true }, port)
    const [finding] = await looked(`https://localhost:${proxy.port}`, 'HAProxy')
    expect(finding?.what).toContain('64 KB')
    expect(finding?.changes.map(({ line }) => line).join()).toContain('tune.h2.initial-window-size')
    await using plain = await startProxy({ tool: 'haproxy', lines: '', certificate }, port)
    expect(await looked(`https://localhost:${plain.port}`)).toEqual([])
  })
})
