/** The delivered nginx configuration on loopback: only addresses, paths and the frame around it are the test's. */
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { freePort, listens } from '../processes/free-port.ts'
import { openFiles } from '../processes/open-files.ts'
import { toolPath, whyNoTools } from '../processes/tools.ts'

const DELIVERED = join(import.meta.dir, '../../../deploy/nginx')

export interface SiteParts {
  readonly site: 'holdfast.conf' | 'holdfast-tls.conf'
  readonly upstream: 'one-node.conf' | 'three-nodes.conf'
  /** Ports of 127.0.0.1, as many as the upstream has servers. */
  readonly nodes: readonly number[]
}

export interface NginxSite {
  readonly pid: number
  /** Where the site answers, by TLS where it has it. */
  readonly url: string
  /** The plain port. */
  readonly plainUrl: string
  /** What it wrote about itself. */
  log(): string
  /** What it wrote about requests. */
  accessLog(): string
  /** Files that it has open to put bodies of requests and answers aside. */
  setAside(): string[]
  [Symbol.asyncDispose](): Promise<void>
}

/** What a test of it runs. */
export const NGINX_TOOLS = ['nginx', 'openssl', 'curl'] as const

export async function startNginxSite(parts: SiteParts): Promise<NginxSite> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-nginx-'))
  const plain = await freePort()
  const tls = await freePort()
  layOut(folder, parts, { plain, tls })
  const log = join(folder, 'error.log')
  const nginx = Bun.spawn(command(folder), {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: openSync(log, 'a'),
  })
  const remove = () => {
    nginx.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', remove)
  await eventually('nginx listens', () => {
    if (nginx.exitCode !== null) throw new Error(`nginx does not start: ${readFileSync(log, 'utf8')}`)
    return listens(plain)
  })
  const plainUrl = `http://127.0.0.1:${plain}`
  return {
    pid: nginx.pid,
    url: parts.site === 'holdfast.conf' ? plainUrl : `https://127.0.0.1:${tls}`,
    plainUrl,
    log: () => readFileSync(log, 'utf8'),
    accessLog: () => readFileSync(join(folder, 'access.log'), 'utf8'),
    setAside: () => openFiles(nginx.pid).filter((path) => path.startsWith(join(folder, 'temporary'))),
    async [Symbol.asyncDispose]() {
      nginx.kill('SIGTERM')
      await nginx.exited
      remove()
      process.off('exit', remove)
    },
  }
}

/** What `nginx -t` says of the configuration; empty when it finds nothing to say but that all is well. */
export async function nginxComplaints(parts: SiteParts): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-nginx-'))
  try {
    layOut(folder, parts, { plain: await freePort(), tls: await freePort() })
    const { stderr } = Bun.spawnSync([...command(folder), '-t'])
    const fine = /: the configuration file .* syntax is ok$|: configuration file .* test is successful$/
    return stderr
      .toString()
      .split('\n')
      .filter((line) => line !== '' && !fine.test(line))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function command(folder: string): string[] {
  const found = toolPath('nginx')
  if (found === null) throw new Error(whyNoTools('nginx') ?? '')
  return [found, '-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')]
}

function layOut(folder: string, parts: SiteParts, ports: { plain: number; tls: number }): void {
  for (const name of ['conf.d', 'snippets', 'temporary']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'nginx.conf'), frame(folder))
  writeFileSync(
    join(folder, 'snippets/holdfast-proxy.conf'),
    logged(folder, delivered('holdfast-proxy.conf')),
  )
  writeFileSync(join(folder, 'conf.d/log.conf'), delivered('holdfast-log.conf'))
  writeFileSync(join(folder, 'conf.d/site.conf'), site(folder, parts.site, ports))
  writeFileSync(join(folder, 'conf.d/upstream.conf'), upstream(parts))
}

function site(
  folder: string,
  name: SiteParts['site'],
  { plain, tls }: { plain: number; tls: number },
): string {
  const here = replaced(delivered(name), /^ *listen \[::\].*\n/gm, '')
  const http = replaced(here, /listen 80;/g, `listen 127.0.0.1:${plain} default_server;`)
  if (name === 'holdfast.conf') return http
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  makeCertificate(key, certificate)
  const https = replaced(logged(folder, http), /listen 443 ssl http2;/g, `listen 127.0.0.1:${tls} ssl http2;`)
  const certified = replaced(https, /ssl_certificate .*;/g, `ssl_certificate ${certificate};`)
  return replaced(certified, /ssl_certificate_key .*;/g, `ssl_certificate_key ${key};`)
}

function upstream({ upstream: name, nodes }: SiteParts): string {
  const servers = /^ *server [\d.]+:3000;$/gm
  const text = delivered(name)
  if (text.match(servers)?.length !== nodes.length) throw new Error(`${name} names another number of nodes`)
  const rest = [...nodes]
  return text.replace(servers, () => `server 127.0.0.1:${rest.shift()};`)
}

function logged(folder: string, text: string): string {
  return replaced(text, /\/var\/log\/nginx\/access\.log/g, join(folder, 'access.log'))
}

function delivered(name: string): string {
  return readFileSync(join(DELIVERED, name), 'utf8')
}

/** Throws when there was nothing to replace: the test would run something else than it believes. */
function replaced(text: string, what: RegExp, by: string): string {
  const changed = text.replace(what, by)
  if (changed === text) throw new Error(`${what} is not in the configuration any more`)
  return changed
}

function makeCertificate(key: string, certificate: string): void {
  const { exitCode, stderr } = Bun.spawnSync([
    ...['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-keyout', key, '-out', certificate, '-days', '2', '-subj', '/CN=files.example.org'],
  ])
  if (exitCode !== 0) throw new Error(`openssl made no certificate: ${stderr}`)
}

/** One process alone, so that what it has open is seen. */
function frame(folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  ${temporary.map((name) => `${name}_temp_path ${folder}/temporary/${name};`).join('\n  ')}
  include conf.d/*.conf;
}
`
}
