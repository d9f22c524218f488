/** Real proxies before a server, in configurations that people write. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { temporaryFolder } from '../processes/child.ts'
import { freePort, listens } from '../processes/free-port.ts'
import { runProgram, startProgram } from '../processes/program.ts'
import { type Tool, toolPath } from '../processes/tools.ts'

export interface RunningProxy extends AsyncDisposable {
  readonly port: number
}

/** How a proxy is configured: `lines` go to where requests are passed on. */
export interface ProxyConfiguration {
  readonly tool: Tool & ('nginx' | 'caddy' | 'haproxy' | 'apache2')
  readonly lines: string
  /** What is outside of that. */
  readonly around?: string
  /** Outside of everything. */
  readonly global?: string
  /** PEM files, where it speaks TLS. */
  readonly certificate?: Certificate
  /** Whether it speaks HTTP/2 over TLS. Caddy always does. */
  readonly http2?: boolean
}

export interface Certificate {
  readonly certificate: string
  readonly key: string
}

/** A certificate for localhost that nobody trusts, made in the folder. */
export async function makeCertificate(folder: string, days = 30): Promise<Certificate> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=localhost', '-days', String(days), '-nodes', '-newkey', 'rsa:2048']
  const words = ['req', '-x509', ...subject, '-keyout', key, '-out', certificate]
  const { code, errors } = await runProgram(['openssl', ...words])
  if (code !== 0) throw new Error(`openssl made no certificate: ${errors}`)
  return { key, certificate }
}

/** Listens on 127.0.0.1 and passes on to that port. */
export async function startProxy(configuration: ProxyConfiguration, to: number): Promise<RunningProxy> {
  const folder = temporaryFolder()
  const port = await freePort()
  const { file, text, words } = writers[configuration.tool](configuration, { folder: folder.path, port, to })
  writeFileSync(join(folder.path, file), text)
  const program = toolPath(configuration.tool) ?? configuration.tool
  const proxy = startProgram([program, ...words(join(folder.path, file))], {
    env: { PATH: process.env.PATH, HOME: folder.path },
  })
  const ended = proxy.ended.then(({ errors }) => {
    throw new Error(`${configuration.tool} ended: ${errors}`)
  })
  // Looked at only while it starts.
  ended.catch(() => {})
  await Promise.race([ended, eventually(`${configuration.tool} listens`, () => listens(port))])
  return {
    port,
    async [Symbol.asyncDispose]() {
      proxy.kill('SIGTERM')
      await proxy.ended
      folder[Symbol.dispose]()
    },
  }
}

interface Place {
  readonly folder: string
  readonly port: number
  readonly to: number
}

interface Written {
  readonly file: string
  readonly text: string
  readonly words: (path: string) => string[]
}

const isRoot = process.getuid?.() === 0

const writers: Readonly<
  Record<ProxyConfiguration['tool'], (configuration: ProxyConfiguration, place: Place) => Written>
> = {
  nginx: ({ lines, around = '', certificate, http2 }, { folder, port, to }) => ({
    file: 'nginx.conf',
    text: `
${isRoot ? 'user root;' : ''}
daemon off;
master_process off;
pid ${folder}/pid;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder}/${each};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port}${certificate === undefined ? '' : ' ssl'}${http2 ? ' http2' : ''};
    ${certificate === undefined ? '' : `ssl_certificate ${certificate.certificate}; ssl_certificate_key ${certificate.key};`}
    ${around}
    location / {
      proxy_pass http://127.0.0.1:${to};
      ${lines}
    }
  }
}
`,
    words: (path) => ['-p', folder, '-e', join(folder, 'error.log'), '-c', path],
  }),

  caddy: ({ lines, around = '', certificate }, { port, to }) => ({
    file: 'Caddyfile',
    text: `
{
\tadmin off
\tauto_https off
}
${certificate === undefined ? 'http://127.0.0.1' : 'https://localhost'}:${port} {
\t${certificate === undefined ? '' : `tls ${certificate.certificate} ${certificate.key}`}
\t${around}
\treverse_proxy 127.0.0.1:${to} {
\t\t${lines}
\t}
}
`,
    words: (path) => ['run', '--config', path, '--adapter', 'caddyfile'],
  }),

  haproxy: ({ lines, around = '', global = '', certificate, http2 }, { folder, port, to }) => ({
    file: 'haproxy.cfg',
    text: `
global
  ${global}
defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
  ${around}
frontend all
  bind 127.0.0.1:${port}${certificate === undefined ? '' : ` ssl crt ${both(folder, certificate)}`}${http2 ? ' alpn h2,http/1.1' : ''}
  default_backend holdfast
backend holdfast
  ${lines}
  server one 127.0.0.1:${to}
`,
    words: (path) => ['-f', path],
  }),

  apache2: ({ lines, around = '', certificate, http2 }, { folder, port, to }) => ({
    file: 'apache.conf',
    text: `
ServerName localhost
ServerRoot ${folder}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
Listen 127.0.0.1:${port}
${['mpm_event', 'authz_core', 'headers', 'proxy', 'proxy_http', 'ssl', 'http2'].map((each) => `LoadModule ${each}_module /usr/lib/apache2/modules/mod_${each}.so`).join('\n')}
${isRoot ? 'User www-data\nGroup www-data' : ''}
${certificate === undefined ? '' : `SSLEngine on\nSSLCertificateFile ${certificate.certificate}\nSSLCertificateKeyFile ${certificate.key}`}
${http2 ? 'Protocols h2 http/1.1' : ''}
${around}
<Location "/">
  ProxyPass "http://127.0.0.1:${to}/"
  ${lines}
</Location>
`,
    words: (path) => ['-D', 'FOREGROUND', '-f', path],
  }),
}

/** HAProxy wants both in one file. */
function both(folder: string, { certificate, key }: Certificate): string {
  const path = join(folder, 'both.pem')
  writeFileSync(path, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'))
  return path
}
