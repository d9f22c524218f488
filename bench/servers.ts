import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Processes } from './measure.ts'

/** What is asked, and the processes that answer. */
export interface Endpoint extends Processes {
  /** Without a trailing slash. */
  readonly url: string
}

/** A server under measurement, in a process of its own. */
export interface Server extends Endpoint {
  stop(): Promise<void>
}

export interface Holdfast extends Server {
  /** Makes an account and returns its API key. */
  addAccount(username: string): Promise<string>
}

export interface Nginx extends Server {
  readonly version: string
  /** What is put to `<url>/put/` and `<url>/put-1m/`, and served at `<url>/files/`, lies here. */
  readonly folder: string
}

export interface TusPeer extends Server {
  /** Where it keeps what is uploaded, by its name for it. */
  readonly folder: string
}

const REPOSITORY = join(import.meta.dir, '..')
const READY_WITHIN = 30_000

export interface HoldfastOptions {
  /** A CPU profile is written to this folder when it stops. */
  readonly profile?: string | undefined
  /** Variables of HOLDFAST_, with that prefix. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Our server as it is delivered, its log included; only the limits that a benchmark would run into are raised. */
export async function startHoldfast(
  folder: string,
  { profile, settings = {} }: HoldfastOptions = {},
): Promise<Holdfast> {
  mkdirSync(folder, { recursive: true })
  // What a developer's own environment and .env say must not be measured.
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'))
  const env = {
    ...Object.fromEntries(others),
    HOLDFAST_HOST: '127.0.0.1',
    HOLDFAST_PORT: '0',
    HOLDFAST_DATA_DIR: join(folder, 'data'),
    HOLDFAST_RATE_LIMIT: '1000000000',
    HOLDFAST_STORAGE_LIMIT: '1000GB',
    HOLDFAST_MAX_FILE_SIZE: '20GB',
    HOLDFAST_LOG_LEVEL: 'info',
    ...settings,
  }
  const profiling =
    profile === undefined
      ? []
      : ['--cpu-prof', '--cpu-prof-md', `--cpu-prof-dir=${profile}`, '--cpu-prof-name=holdfast']
  const log = join(folder, 'log')
  const server = Bun.spawn([process.execPath, '--no-env-file', ...profiling, 'src/main.ts', 'serve'], {
    cwd: REPOSITORY,
    env,
    stdout: openSync(log, 'a'),
    stderr: openSync(`${log}.errors`, 'a'),
  })
  const url = await until('Holdfast to listen', () => {
    if (server.exitCode !== null) {
      throw new Error(
        `Holdfast does not start: ${readFileSync(`${log}.errors`, 'utf8')}${readFileSync(log, 'utf8')}`,
      )
    }
    const line = readFileSync(log, 'utf8')
      .split('\n')
      .find((text) => text.includes('"msg":"listening"'))
    if (line === undefined) return null
    const said: { url: string } = JSON.parse(line)
    return said.url.replace(/\/$/, '')
  })
  return {
    url,
    pids: [server.pid],
    stop: () => stopped(server),
    async addAccount(username) {
      const program = [process.execPath, '--no-env-file', 'src/main.ts']
      const command = Bun.spawn([...program, 'account', 'add', username, '--json'], {
        cwd: REPOSITORY,
        env,
        stdout: 'pipe',
        stderr: 'inherit',
      })
      const said = await command.stdout.text()
      if ((await command.exited) !== 0) throw new Error(`no account was made: ${said}`)
      const account: { api_key: string } = JSON.parse(said)
      return account.api_key
    },
  }
}

/** nginx as Debian configures it, log included, with a folder that takes PUT; null when it is not installed. */
export async function startNginx(folder: string): Promise<Nginx | null> {
  const binary = Bun.which('nginx', { PATH: `${process.env.PATH}:/usr/sbin` })
  if (binary === null) return null
  const built = Bun.spawnSync([binary, '-V']).stderr.toString()
  if (!built.includes('http_dav_module')) return null
  const files = join(folder, 'files')
  mkdirSync(files, { recursive: true })
  const port = freePort()
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes auto;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 768; }
http {
  sendfile on;
  tcp_nopush on;
  access_log ${folder}/access.log;
  default_type application/octet-stream;
  client_max_body_size 0;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    location /files/ { alias ${files}/; }
    location /put/ { alias ${files}/; dav_methods PUT; }
    location /put-1m/ { alias ${files}/; dav_methods PUT; client_body_buffer_size 1m; }
  }
}
`,
  )
  const server = Bun.spawn(
    [binary, '-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`],
    {
      stdout: 'ignore',
      stderr: openSync(join(folder, 'stderr.log'), 'a'),
    },
  )
  const url = `http://127.0.0.1:${port}`
  await until('nginx to listen', async () => {
    if (server.exitCode !== null) {
      throw new Error(`nginx does not start: ${readFileSync(join(folder, 'stderr.log'), 'utf8')}`)
    }
    return (await answers(url)) ? true : null
  })
  const version = /nginx\/([\d.]+)/.exec(built)?.[1] ?? 'unknown'
  return { url, version, folder: files, pids: [server.pid], stop: () => stopped(server) }
}

/** Node.js, or null when it is not installed. Bun may bring a `node` of its own into the path, which is Bun. */
export function findNode(): { readonly program: string; readonly version: string } | null {
  const program = Bun.which('node')
  if (program === null) return null
  const told = Bun.spawnSync([program, '-p', 'process.versions.bun ?? process.version']).stdout.toString()
  return told.startsWith('v') ? { program, version: told.slice(1).trim() } : null
}

/** @tus/server with its file store, run by this program: Node.js, which it is written for, or Bun. */
export async function startTusPeer(folder: string, runtime: string): Promise<TusPeer> {
  const files = join(folder, 'files')
  mkdirSync(files, { recursive: true })
  // Node.js reads no TypeScript in all of its versions.
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'tus-peer.ts')],
    target: 'node',
    packages: 'external',
    outdir: folder,
    naming: 'tus-peer.mjs',
  })
  const program = outputs.map(({ path }) => path)
  const server = Bun.spawn([runtime, ...program, files], {
    stdout: 'pipe',
    stderr: openSync(join(folder, 'stderr.log'), 'a'),
  })
  const { value } = await server.stdout.getReader().read()
  if (value === undefined) throw new Error(`@tus/server does not start on ${runtime}`)
  const url = new TextDecoder().decode(value).trim()
  return { url, folder: files, pids: [server.pid], stop: () => stopped(server) }
}

/** The bare Bun server, which answers the given detail and listing as constants. */
export async function startBare(detail: unknown, listing: unknown): Promise<Server> {
  const server = Bun.spawn([process.execPath, join(import.meta.dir, 'bare.ts')], {
    stdin: new Blob([JSON.stringify({ detail, listing })]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { value } = await server.stdout.getReader().read()
  if (value === undefined) throw new Error('the bare server does not start')
  return { url: new TextDecoder().decode(value).trim(), pids: [server.pid], stop: () => stopped(server) }
}

async function stopped(server: Bun.Subprocess): Promise<void> {
  server.kill('SIGTERM')
  await server.exited
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  probe.stop(true)
  if (port === undefined) throw new Error('no free port')
  return port
}

async function until<T>(what: string, look: () => T | null | Promise<T | null>): Promise<T> {
  const deadline = performance.now() + READY_WITHIN
  while (performance.now() < deadline) {
    const found = await look()
    if (found !== null) return found
    await Bun.sleep(50)
  }
  throw new Error(`waited ${READY_WITHIN / 1000} s for ${what}`)
}
