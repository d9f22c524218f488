import { expect } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeCertificate } from '../operations/doctor/proxies.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { freePort, listens } from '../support/processes/free-port.ts'
import { runProgram, startProgram } from '../support/processes/program.ts'
import { testWith, toolPath } from '../support/processes/tools.ts'
import { startHoldfast } from '../support/servers/holdfast.ts'

const DELIVERED = readFileSync(join(import.meta.dir, '../../deploy/haproxy/haproxy.cfg'), 'utf8')

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
    const [plain, tls] = [await freePort(), await freePort()]
    const { certificate, key } = await makeCertificate(folder.path)
    const pem = join(folder.path, 'both.pem')
    writeFileSync(pem, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'))
    const replaced = {
      'bind :80\n': `bind 127.0.0.1:${plain}\n`,
      'bind :443 ': `bind 127.0.0.1:${tls} `,
      '/etc/haproxy/certs/files.example.org.pem': pem,
      '127.0.0.1:3000': new URL(host.nodeUrl).host,
      'log /dev/log local0': 'log stdout format raw local0',
    }
    const text = Object.entries(replaced).reduce((text, [there, here]) => {
      expect(text).toContain(there)
      return text.replace(there, here)
    }, DELIVERED)
    const path = join(folder.path, 'haproxy.cfg')
    writeFileSync(path, text)
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
