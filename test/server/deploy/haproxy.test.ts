// Only in test:all: a proxy; upload-window.test.ts is in the whole run too.
import { expect } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { freePort, listens } from '../../support/processes/free-port.ts'
import { runProgram, startProgram } from '../../support/processes/program.ts'
import { testWith, toolPath } from '../../support/processes/tools.ts'
import { startHoldfast } from '../../support/servers/holdfast.ts'
import { makeCertificate } from '../../support/servers/proxies.ts'

const DELIVERED = readFileSync(join(import.meta.dir, '../../../deploy/haproxy/haproxy.cfg'), 'utf8')
const GUIDE = readFileSync(join(import.meta.dir, '../../../docs/operations/haproxy.md'), 'utf8')

/** The delivered configuration for this node, with a certificate in `both.pem` and ports of its own. */
async function delivered(folder: string, nodeUrl: string) {
  const [plain, tls] = [await freePort(), await freePort()]
  const { certificate, key } = await makeCertificate(folder)
  const pem = join(folder, 'both.pem')
  writeFileSync(pem, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'))
  const replaced = {
    'bind :80\n': `bind 127.0.0.1:${plain}\n`,
    'bind :443 ': `bind 127.0.0.1:${tls} `,
    '/etc/haproxy/certs/files.example.org.pem': pem,
    '127.0.0.1:3000': new URL(nodeUrl).host,
    'log /dev/log local0': 'log stdout format raw local0',
  }
  const text = Object.entries(replaced).reduce((text, [there, here]) => {
    expect(text).toContain(there)
    return text.replace(there, here)
  }, DELIVERED)
  const path = join(folder, 'haproxy.cfg')
  writeFileSync(path, text)
  return { plain, tls, path, pem }
}

testWith(
  ['haproxy', 'openssl', 'curl'],
  'the delivered HAProxy configuration passes requests on, tells visitors apart and logs no address',
  async () => {
    using folder = temporaryFolder()
    const host = await startHoldfast({
      metrics: { token: null },
      trustedProxies: ['127.0.0.1'],
      guestRateLimit: 1,
    })
    const { plain, tls, path } = await delivered(folder.path, host.nodeUrl)
    const program = toolPath('haproxy') ?? 'haproxy'
    const checked = await runProgram([program, '-c', '-f', path])
    expect(checked.output + checked.errors).not.toMatch(/WARNING|ALERT/)

    const haproxy = startProgram([program, '-f', path])
    const curl = async (...words: string[]) => {
      const format = [
        '--silent',
        '--insecure',
        '--output',
        '/dev/null',
        '--write-out',
        '%{http_code} %{redirect_url}',
      ]
      return (await runProgram(['curl', ...format, ...words])).output.trim()
    }
    const url = `https://127.0.0.1:${tls}`
    const upload = (name: string, from: string, forwarded: string) =>
      curl('-T', path, '--interface', from, '-H', `X-Forwarded-For: ${forwarded}`, `${url}/${name}`)
    try {
      await eventually('HAProxy listens', () => listens(tls))
      await eventually('the node is found', async () => (await curl(`${url}/health`)) === '200')
      expect(await curl(`${url}/metrics`)).toBe('404')
      expect(await curl(`http://127.0.0.1:${plain}/d/aB3?x=1`)).toMatch(
        /^308 https:\/\/127\.0\.0\.1.*\/d\/aB3\?x=1$/,
      )
      expect(await upload('secret-name.txt', '127.0.0.1', '192.0.2.1')).toBe('200')
      expect(await upload('secret-name.txt', '127.0.0.1', '192.0.2.2')).toBe('429')
      expect(await upload('secret-name.txt', '127.0.0.3', '192.0.2.1')).toBe('200')
      await eventually('they are logged', () => /PUT .* 429 /.test(haproxy.output()))
      expect(haproxy.output()).toMatch(/^127\.0\.0\.3 \[[^\]]+\] PUT HTTP\/2\.0 200 .* id=[\w-]{8,}$/m)
      expect(haproxy.output()).not.toMatch(/secret-name|aB3/)
      await host.stop()
      await eventually('the node is gone', async () => (await curl(`${url}/health`)) === '503')
    } finally {
      haproxy.kill('SIGTERM')
      await haproxy.ended
      await host.stop()
    }
  },
)

testWith(
  ['haproxy', 'openssl', 'curl'],
  'the deploy hook of the documents has a renewed certificate served, and cuts no upload that runs meanwhile',
  async () => {
    using folder = temporaryFolder()
    using renewed = temporaryFolder()
    const host = await startHoldfast({ metrics: { token: null }, trustedProxies: ['127.0.0.1'] })
    const { tls, path, pem } = await delivered(folder.path, host.nodeUrl)
    const { certificate, key } = await makeCertificate(renewed.path)
    renameSync(certificate, join(renewed.path, 'fullchain.pem'))
    renameSync(key, join(renewed.path, 'privkey.pem'))
    const hook = /--deploy-hook \\\n {2}'([^']+)'/
      .exec(GUIDE)?.[1]
      ?.replaceAll('/etc/haproxy/certs', folder.path)
    if (hook === undefined) throw new Error('the documents have no deploy hook')
    const file = join(folder.path, 'film.mkv')
    const bytes = randomBytes(3_000_000)
    writeFileSync(file, bytes)
    const pidFile = join(folder.path, 'haproxy.pid')
    // What the unit of Debian's package does at "systemctl reload".
    writeFileSync(join(folder.path, 'systemctl'), `#!/bin/sh\nkill -USR2 "$(cat ${pidFile})"\n`, {
      mode: 0o755,
    })

    const haproxy = startProgram([toolPath('haproxy') ?? 'haproxy', '-W', '-p', pidFile, '-f', path])
    const url = `https://127.0.0.1:${tls}`
    const health = () => runProgram(['curl', '--silent', '--fail', '--insecure', `${url}/health`])
    const served = async () => {
      const asked = `openssl s_client -connect 127.0.0.1:${tls} </dev/null 2>/dev/null | openssl x509 -noout -serial`
      return (await runProgram(['sh', '-c', asked])).output.trim()
    }
    try {
      await eventually('HAProxy listens', () => listens(tls))
      await eventually('the node is found', async () => (await health()).code === 0)
      const before = await served()
      const upload = startProgram([
        'curl',
        '--silent',
        '--insecure',
        '--limit-rate',
        '500k',
        '-T',
        file,
        `${url}/`,
      ])
      await eventually('the upload is under way', async () =>
        /uploads_in_progress 1\b/.test(await (await fetch(`${host.nodeUrl}/metrics`)).text()),
      )
      const environment = { PATH: `${folder.path}:${process.env.PATH}`, RENEWED_LINEAGE: renewed.path }
      const ran = await runProgram(['sh', '-c', hook.replaceAll('files.example.org.pem', 'both.pem')], {
        env: environment,
      })
      expect(ran).toMatchObject({ code: 0, errors: '' })
      await eventually('the new certificate is served', async () => ![before, ''].includes(await served()))
      expect(statSync(pem).size).toBeGreaterThan(0)
      const { code, output } = await upload.ended
      expect(code).toBe(0)
      const address = /https?:\S+/.exec(output)?.[0] ?? ''
      const sent = await fetch(new URL(`${new URL(address).pathname}?download=1`, host.nodeUrl))
      expect(Buffer.compare(Buffer.from(await sent.arrayBuffer()), bytes)).toBe(0)
    } finally {
      haproxy.kill('SIGTERM')
      await haproxy.ended
      await host.stop()
    }
  },
)
