/** `holdfast doctor`, as people run it, beside a server behind real proxies. */
// Only in test:all: real proxies, and lines that are silent.
// Only on a folder: starts servers of its own behind each proxy; doctor-nodes has PostgreSQL and S3.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { openSqlite } from '../../../../src/database/sqlite.ts'
import { holdfast } from '../../../support/cli/command.ts'
import { holdfastHere } from '../../../support/cli/command-here.ts'
import { visitor } from '../../../support/clients/site-visitor.ts'
import { withNextVersion } from '../../../support/databases/next-version.ts'
import { diagnosis, examined, type Finding } from '../../../support/operations/examined.ts'
import { patient } from '../../../support/patience.ts'
import { startChild, temporaryFolder } from '../../../support/processes/child.ts'
import { freePort } from '../../../support/processes/free-port.ts'
import { describeWith } from '../../../support/processes/tools.ts'
import { startHoldfast } from '../../../support/servers/holdfast.ts'
import { makeCertificate, type ProxyConfiguration, startProxy } from '../../../support/servers/proxies.ts'
import { administrator } from '../../../support/sign-in/administrator.ts'

const found = diagnosis.shape.findings
const inTheSite = z.object({
  sound: z.boolean(),
  machine: found,
  database: found,
  services: found,
  address: found,
})

/** The tests' own temporary folder may lie in memory, which the doctor would find. */
const ON_DISK = '/var/tmp'

/**
 * Whole seconds of silence that impatient proxies bear, and those that a proxy must bear. HAProxy counts the pause of 1.5 s in
 * the doctor's upload, too. A busy server answers in less.
 */
const SHORTER = 1 + patient(1) / 1000
const SILENCE = 2 * SHORTER

const problemsOf = (findings: readonly Finding[]) =>
  findings.filter(({ level }) => level === 'problem').map(({ check }) => check)

describeWith(['nginx', 'caddy', 'haproxy', 'apache2', 'openssl'], 'holdfast doctor', () => {
  const folder = temporaryFolder(ON_DISK)
  const settings: Record<string, string> = {}
  let server: Awaited<ReturnType<typeof startChild>>
  let port: number

  beforeAll(async () => {
    port = await freePort()
    Object.assign(settings, {
      HOLDFAST_PORT: String(port),
      HOLDFAST_DATA_DIR: join(folder.path, 'data'),
      HOLDFAST_METRICS: 'on',
      HOLDFAST_TRUSTED_PROXIES: '127.0.0.0/8',
    })
    server = await startChild(join(folder.path, 'data'), {
      PORT: String(port),
      METRICS: 'on',
      TRUSTED_PROXIES: '127.0.0.0/8',
    })
  })
  afterAll(async () => {
    await server.stop()
    folder[Symbol.dispose]()
  })

  const through = async (
    configuration: ProxyConfiguration,
    silence: number,
    more: Readonly<Record<string, string>> = {},
  ) => {
    await using proxy = await startProxy(configuration, port)
    const scheme = configuration.certificate === undefined ? 'http' : 'https'
    const address = `${scheme}://127.0.0.1:${proxy.port}`
    const own = { ...settings, HOLDFAST_PUBLIC_URL: address, ...more }
    return await examined(folder.path, own, '--silence', String(silence))
  }

  /** What each of them lets through that it should not, or holds back. */
  const soundNginx = `
    client_max_body_size 0; proxy_request_buffering off; proxy_max_temp_file_size 0; proxy_http_version 1.1;
    proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr;`
  const NOT_FORGED = 'RequestHeader unset X-Forwarded-For early'
  const noMetrics = 'location = /metrics { return 404; }'

  // One after another: what the checks measure are pauses, which a busy machine blurs.
  test.each<[string, ProxyConfiguration, readonly string[]]>([
    ['nginx that is configured well', { tool: 'nginx', lines: soundNginx, around: noMetrics }, []],
    [
      'nginx as it is installed',
      { tool: 'nginx', lines: '' },
      ['forwarded-address', 'host', 'body-limit', 'request-buffering', 'metrics'],
    ],
    [
      'nginx that passes on what visitors say of themselves, and has no patience',
      {
        tool: 'nginx',
        lines: `${soundNginx.replace('$remote_addr', '$http_x_forwarded_for')} proxy_read_timeout ${SHORTER}s;`,
        around: noMetrics,
      },
      ['forwarded-address', 'time-out'],
    ],
    [
      'nginx that lets pages through alone',
      { tool: 'nginx', lines: `${soundNginx} limit_except GET POST { deny all; }`, around: noMetrics },
      ['body-limit', 'request-buffering', 'methods'],
    ],
    [
      'nginx that takes ranges away',
      { tool: 'nginx', lines: `${soundNginx} proxy_set_header Range "";`, around: noMetrics },
      ['ranges'],
    ],
    ['Caddy that is configured well', { tool: 'caddy', lines: '', around: 'respond /metrics 404' }, []],
    [
      'Caddy that buffers, renames and has no patience',
      {
        tool: 'caddy',
        lines: `buffer_requests\n\t\theader_up Host inside\n\t\ttransport http {\n\t\t\tresponse_header_timeout ${SHORTER}s\n\t\t}`,
        around: 'respond /metrics 404',
      },
      ['host', 'request-buffering', 'time-out'],
    ],
    [
      'HAProxy that is configured well',
      {
        tool: 'haproxy',
        lines:
          'http-request set-header X-Forwarded-For %[src]\n  http-request deny deny_status 404 if { path /metrics }',
      },
      [],
    ],
    [
      'HAProxy as it is installed',
      { tool: 'haproxy', lines: `timeout server ${SHORTER}s` },
      ['forwarded-address', 'time-out', 'metrics'],
    ],
    [
      'Apache that is configured well',
      {
        tool: 'apache2',
        lines: '',
        around: `${NOT_FORGED}\nProxyPreserveHost On\n<Location "/metrics">\n  Require all denied\n</Location>`,
      },
      [],
    ],
    ['Apache as it is installed', { tool: 'apache2', lines: '' }, ['host', 'metrics']],
  ])('before %s', async (_, configuration, expected) => {
    const isAboutSilence = expected.length === 0 || expected.includes('time-out')
    const findings = await through(configuration, isAboutSilence ? SILENCE : 0)
    expect(problemsOf(findings)).toEqual([...expected])
  })

  const finding = (findings: readonly Finding[], check: string) =>
    findings.find((each) => each.check === check)

  test('finds nothing wrong with a server that is asked directly, and says so to people', async () => {
    const words = ['doctor', '--silence', '0', '--address', `http://127.0.0.1:${port}`]
    const metricsOff = { ...settings, HOLDFAST_METRICS: 'off' }
    const { code, output } = await holdfast(folder.path, words, metricsOff)
    expect(output).toContain('✓ public-address: ')
    expect(output).toContain('? time-out: left out')
    expect(output).toMatch(/\n0 problems, \d pieces? of advice; fine: \d+ checks\.\n$/)
    expect(code).toBe(0)
  })

  test('names the line that makes a proxy trusted', async () => {
    const configuration: ProxyConfiguration = { tool: 'nginx', lines: soundNginx, around: noMetrics }
    const findings = await through(configuration, 0, { HOLDFAST_TRUSTED_PROXIES: '' })
    expect(problemsOf(findings)).toEqual(['forwarded-address'])
    const changes = [{ where: 'Holdfast', line: 'HOLDFAST_TRUSTED_PROXIES=127.0.0.1' }]
    expect(finding(findings, 'forwarded-address')?.changes).toEqual(changes)
  })

  test('tells of a certificate that nobody trusts, and still looks through it', async () => {
    using keys = temporaryFolder()
    const certified = { lines: soundNginx, around: noMetrics, certificate: await makeCertificate(keys.path) }
    const findings = await through({ tool: 'nginx', ...certified }, 0)
    expect(problemsOf(findings)).toEqual(['certificate'])
    expect(finding(findings, 'certificate')?.what).toContain('not valid')
    // The server itself was told of an address without TLS.
    expect(finding(findings, 'hsts')?.level).toBe('advice')
    expect(finding(findings, 'http2')?.level).toBe('advice')
    // Neither of these is on port 443, and the proxy leaves the port out.
    for (const check of ['host', 'response-buffering', 'from-http']) {
      expect(finding(findings, check)?.level).toBe('ok')
    }
  })

  test('tells an address that leads elsewhere from one that leads nowhere', async () => {
    using other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hello') })
    const asked = async (address: string) =>
      finding(await examined(folder.path, settings, '--address', address), 'public-address')?.what
    expect(await asked(`http://127.0.0.1:${other.port}`)).toContain(
      'is answered by something else (status 200)',
    )
    expect(await asked(`http://127.0.0.1:${await freePort()}`)).toContain('does not answer')
    using elsewhere = temporaryFolder()
    await using stranger = await startChild(join(elsewhere.path, 'data'))
    expect(await asked(stranger.url)).toContain('does not know this installation (status 404)')
  })

  test('looks at the disk, jobs, mail and the version of the database', async () => {
    using memory = temporaryFolder('/dev/shm')
    const data = join(memory.path, 'data')
    await (await startChild(data)).stop()
    const db = openSqlite(join(data, 'holdfast.sqlite'))
    const failed = { failures: 9, failure: 'Error: no room', failed_at: Date.now(), ended_at: Date.now() }
    await db
      .insertInto('jobs')
      .values({ name: 'remove garbage', ...failed })
      .execute()
    await db.destroy()
    // As where a folder is not mounted.
    renameSync(join(data, 'blobs/mark'), join(memory.path, 'mark'))
    const own = {
      HOLDFAST_DATA_DIR: data,
      HOLDFAST_SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
      HOLDFAST_MAIL_FROM: 'files@example.org',
      HOLDFAST_PUBLIC_URL: `http://127.0.0.1:${port}`,
    }
    const findings = await examined(memory.path, own)
    expect(problemsOf(findings)).toEqual(['file-system', 'sync', 'store', 'jobs', 'mail', 'public-address'])
    expect(finding(findings, 'jobs')?.changes[0]?.line).toBe('holdfast admin jobs retry "remove garbage"')
    using _ = withNextVersion()
    const { output } = await holdfastHere(memory.path, ['doctor', '--json', '--silence', '0'], own)
    const wait = finding(diagnosis.parse(JSON.parse(output)).findings, 'migrations')
    expect(wait?.changes).toEqual([{ where: 'shell', line: 'holdfast migrate' }])
  })

  test('says where there is no data, and refuses what it cannot read', async () => {
    using empty = temporaryFolder()
    const findings = await examined(empty.path, { HOLDFAST_DATA_DIR: join(empty.path, 'data') })
    expect(problemsOf(findings)).toEqual(['database'])
    expect(existsSync(join(empty.path, 'data'))).toBe(false)
    for (const words of [
      ['--silence', '241'],
      ['--silence', 'x'],
      ['--address', 'example.org'],
    ]) {
      expect((await holdfast(empty.path, ['doctor', ...words])).code).toBe(2)
    }
  })

  test('is asked by administrators in the site as well, once for all who ask meanwhile', async () => {
    const own = await freePort()
    const host = await startHoldfast({ port: own, publicUrl: `http://127.0.0.1:${own}` })
    await using _ = { [Symbol.asyncDispose]: () => host.stop() }
    const admin = await administrator(host)
    const answers = await Promise.all(
      [1, 2, 3].map(async () => (await admin.send('POST', '/api/v1/admin/doctor')).data(inTheSite)),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    const seen = answers[0]?.address.map(({ check, level }) => `${check} ${level}`)
    expect(seen).toContain('public-address ok')
    expect(seen).toContain('ranges ok')
    expect(seen).toContain('time-out unknown')
    const stranger = await visitor(() => host.url).send('POST', '/api/v1/admin/doctor')
    expect(stranger.status).toBe(401)
  }, 120_000)

  test('admits nobody else to the probe', async () => {
    const answers = await Promise.all(
      ['', 'x', 'eyJ9.x', `${Buffer.from(String(Date.now() + 1e9)).toString('base64url')}.AAAA`].map(
        (token) =>
          fetch(`http://127.0.0.1:${port}/api/v1/probe?silence=240`, {
            headers: { 'Holdfast-Probe': token },
          }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  })
})
