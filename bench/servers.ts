import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OutputFile, outputFile } from '../test/support/processes/output-file.ts'
import { runProgram } from '../test/support/processes/program.ts'
import type { Processes } from './measure.ts'

/** Address of a server, and its processes. */
export interface MeasuredEndpoint extends Processes {
  /** Without a trailing slash. */
  readonly url: string
}

/** A measured server in a process of its own. */
export interface MeasuredServer extends MeasuredEndpoint {
  stop(): Promise<void>
}

export interface MeasuredHoldfast extends MeasuredServer {
  /** Creates an account and returns its API key. */
  addAccount(username: string): Promise<string>
}

/** A peer that keeps files put to `<url>/put/` in a folder, and serves that at `<url>/files/`. */
export interface MeasuredBytes extends MeasuredServer {
  readonly folder: string
}

/** `<url>/put-1m/` takes files with a buffer of 1 MiB. */
export interface Nginx extends MeasuredBytes {
  readonly version: string
}

export interface TusPeer extends MeasuredServer {
  /** Folder of uploaded files, under the server's names for them. */
  readonly folder: string
}

const REPOSITORY = join(import.meta.dir, '..')
const READY_WITHIN = 30_000

export interface HoldfastOptions {
  /** Folder for a CPU profile, written when the server stops. */
  readonly profile?: string | undefined
  /** Working tree whose sources it runs; this one unless told. */
  readonly tree?: string | undefined
  /** HOLDFAST_ variables, with that prefix. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts Holdfast as in production, with its log; only limits that a benchmark would exceed are raised. */
export async function startMeasuredHoldfast(
  folder: string,
  { profile, tree = REPOSITORY, settings = {} }: HoldfastOptions = {},
): Promise<MeasuredHoldfast> {
  mkdirSync(folder, { recursive: true })
  // A developer's own environment and .env must not affect the measurement.
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
    cwd: tree,
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
      const command = [...program, 'account', 'add', username, '--json']
      const { code, output, errors } = await runProgram(command, { cwd: tree, env })
      if (code !== 0) throw new Error(`no account was made: ${errors}`)
      const account: { api_key: string } = JSON.parse(output)
      return account.api_key
    },
  }
}

/**
 * nginx with Debian's configuration and log, and a folder that accepts PUT; null when it is not installed.
 */
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

/** Node.js, or null when it is not installed. Bun may add a `node` to PATH that is Bun itself. */
export function findNode(): { readonly program: string; readonly version: string } | null {
  const program = Bun.which('node')
  if (program === null) return null
  const told = Bun.spawnSync([program, '-p', 'process.versions.bun ?? process.version']).stdout.toString()
  return told.startsWith('v') ? { program, version: told.slice(1).trim() } : null
}

/** @tus/server with its file store, run by the given runtime: Node.js, its main platform, or Bun. */
export async function startTusPeer(folder: string, runtime: string): Promise<TusPeer> {
  const files = join(folder, 'files')
  mkdirSync(files, { recursive: true })
  // Compiled first, because not every version of Node.js runs TypeScript.
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'tus-peer.ts')],
    target: 'node',
    packages: 'external',
    outdir: folder,
    naming: 'tus-peer.mjs',
  })
  const program = outputs.map(({ path }) => path)
  const output = outputFile()
  const server = Bun.spawn([runtime, ...program, files], {
    stdout: output.descriptor,
    stderr: openSync(join(folder, 'stderr.log'), 'a'),
  })
  const url = await firstLine(`@tus/server on ${runtime}`, output)
  return { url, folder: files, pids: [server.pid], stop: () => stopped(server) }
}

/** The minimal Bun server, which returns the given detail and listing as constants. */
export async function startBare(detail: unknown, listing: unknown): Promise<MeasuredServer> {
  const output = outputFile()
  const server = Bun.spawn([process.execPath, join(import.meta.dir, 'bare.ts')], {
    stdin: new Blob([JSON.stringify({ detail, listing })]),
    stdout: output.descriptor,
    stderr: 'inherit',
  })
  const url = await firstLine('the bare server', output)
  return { url, pids: [server.pid], stop: () => stopped(server) }
}

/** A minimal Bun server that keeps bytes put to `<url>/put/` in the folder, and serves it at `<url>/files/`. */
export async function startBareBytes(folder: string): Promise<MeasuredBytes> {
  const output = outputFile()
  const server = Bun.spawn([process.execPath, join(import.meta.dir, 'bare-bytes.ts'), folder], {
    stdout: output.descriptor,
    stderr: 'inherit',
  })
  const url = await firstLine('the bare server of bytes', output)
  return { url, folder, pids: [server.pid], stop: () => stopped(server) }
}

/** What a server says once it listens. */
function firstLine(name: string, output: OutputFile): Promise<string> {
  return until(`${name} to listen`, async () => /^(.*)\n/.exec(output.text())?.[1]?.trim() ?? null)
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
