/** Real proxies before a server, in configurations that people write. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { freePort, listens } from '../../support/processes/free-port.ts'
import { startProgram } from '../../support/processes/program.ts'
import { type Tool, toolPath } from '../../support/processes/tools.ts'

export interface RunningProxy extends AsyncDisposable {
  readonly port: number
}

/** How a proxy is configured: `lines` go to where requests are passed on. */
export interface ProxyConfiguration {
  readonly tool: Tool & ('nginx' | 'caddy' | 'haproxy' | 'apache2')
  readonly lines: string
  /** What is outside of that. */
  readonly around?: string
  /** PEM files, where it speaks TLS. */
  readonly certificate?: { readonly certificate: string; readonly key: string }
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
  nginx: ({ lines, around = '', certificate }, { folder, port, to }) => ({
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
    listen 127.0.0.1:${port}${certificate === undefined ? '' : ' ssl'};
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

  caddy: ({ lines, around = '' }, { port, to }) => ({
    file: 'Caddyfile',
    text: `
{
\tadmin off
\tauto_https off
}
http://127.0.0.1:${port} {
\t${around}
\treverse_proxy 127.0.0.1:${to} {
\t\t${lines}
\t}
}
`,
    words: (path) => ['run', '--config', path, '--adapter', 'caddyfile'],
  }),

  haproxy: ({ lines, around = '' }, { port, to }) => ({
    file: 'haproxy.cfg',
    text: `
defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
  ${around}
frontend all
  bind 127.0.0.1:${port}
  default_backend holdfast
backend holdfast
  ${lines}
  server one 127.0.0.1:${to}
`,
    words: (path) => ['-f', path],
  }),

  apache2: ({ lines, around = '' }, { folder, port, to }) => ({
    file: 'apache.conf',
    text: `
ServerName localhost
ServerRoot ${folder}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
Listen 127.0.0.1:${port}
${['mpm_event', 'authz_core', 'headers', 'proxy', 'proxy_http'].map((each) => `LoadModule ${each}_module /usr/lib/apache2/modules/mod_${each}.so`).join('\n')}
${isRoot ? 'User www-data\nGroup www-data' : ''}
${around}
<Location "/">
  ProxyPass "http://127.0.0.1:${to}/"
  ${lines}
</Location>
`,
    words: (path) => ['-D', 'FOREGROUND', '-f', path],
  }),
}
