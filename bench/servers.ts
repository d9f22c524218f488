/** Holdfast and its peers, each in a process of its own, on a free port. */
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { devDependencies as packages } from '../package.json'
import { outputFile } from '../test/support/processes/output-file.ts'
import { runProgram } from '../test/support/processes/program.ts'
import { runClient } from './client.ts'
import type { Processes } from './measure.ts'

export interface Endpoint extends Processes {
  /** Without a trailing slash. */
  readonly url: string
}

export interface Server extends Endpoint {
  stop(): Promise<void>
}

export interface Holdfast extends Server {
  /** Creates an account and returns its API key. */
  addAccount(username: string): Promise<string>
}

/** Keeps what is put to `<url>/put/` in a folder, and sends it from `<url>/files/`. */
export interface ByteServer extends Server {
  /** With its version. */
  readonly name: string
  readonly folder: string
}

const REPOSITORY = join(import.meta.dir, '..')
const READY_WITHIN = 30_000

export interface HoldfastOptions {
  /** Working tree whose sources it runs; this one unless told. */
  readonly tree?: string | undefined
  /** Folder for a CPU profile, written when the server stops. */
  readonly profile?: string | undefined
  /** HOLDFAST_ variables, with that prefix. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Holdfast as it is delivered, with its log in a file; only limits that a benchmark exceeds are raised. */
export async function startHoldfast(
  folder: string,
  { tree = REPOSITORY, profile, settings = {} }: HoldfastOptions = {},
): Promise<Holdfast> {
  mkdirSync(folder, { recursive: true })
  const foreign = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'))
  const env = {
    ...Object.fromEntries(foreign),
    HOLDFAST_HOST: '127.0.0.1',
    HOLDFAST_PORT: '0',
    HOLDFAST_DATA_DIR: join(folder, 'data'),
    HOLDFAST_RATE_LIMIT: '1000000000',
    HOLDFAST_STORAGE_LIMIT: '1000GB',
    HOLDFAST_MAX_FILE_SIZE: '20GB',
    ...settings,
  }
  const profiling = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-md', `--cpu-prof-dir=${profile}`]
  const program = [process.execPath, '--no-env-file']
  const log = join(folder, 'log')
  const server = Bun.spawn([...program, ...profiling, 'src/main.ts', 'serve'], {
    cwd: tree,
    env,
    stdout: openSync(log, 'a'),
    stderr: openSync(log, 'a'),
  })
  const url = await until('Holdfast to listen', async () => {
    const text = readFileSync(log, 'utf8')
    if (server.exitCode !== null) throw new Error(`Holdfast does not start: ${text}`)
    const line = text.split('\n').find((each) => each.includes('"msg":"listening"'))
    if (line === undefined) return null
    const said: { url: string } = JSON.parse(line)
    return said.url.replace(/\/$/, '')
  })
  return {
    url,
    pids: [server.pid],
    stop: () => stopped(server),
    async addAccount(username) {
      const command = [...program, 'src/main.ts', 'account', 'add', username, '--json']
      const { code, output, errors } = await runProgram(command, { cwd: tree, env })
      if (code !== 0) throw new Error(`no account was made: ${errors}`)
      const account: { api_key: string } = JSON.parse(output)
      return account.api_key
    },
  }
}

/** Uploads small files to an account of their own; returns its key and the slug of the file in the middle. */
export async function addListed(
  holdfast: Holdfast,
  count: number,
): Promise<{ readonly key: string; readonly slug: string }> {
  console.error(`uploading ${count} small files to list`)
  const key = await holdfast.addAccount('bench-list')
  const to = { by: 'form', url: `${holdfast.url}/api/v1/upload`, key } as const
  const job = { kind: 'upload', to, size: 64, count, connections: 16, first: 1e9 } as const
  const { names } = await runClient(job)
  return { key, slug: names[Math.floor(count / 2)] ?? '' }
}

/** Signed address of a file's bytes, valid for half an hour, at this server whatever its public address. */
export async function contentAddress({ url }: Endpoint, slug: string): Promise<string> {
  const answer = await fetch(`${url}/v2/api/public/download`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ file_slug: slug }),
  })
  if (!answer.ok) throw new Error(`no content address: ${answer.status} ${await answer.text()}`)
  const { file, token }: { file: string; token: string } = JSON.parse(await answer.text())
  return `${url}/v2/${file}?token=${encodeURIComponent(token)}&download=true`
}

/** nginx with Debian's settings, and PUT allowed; `/put-1m/` takes files with a buffer of 1 MiB. */
export async function startNginx(folder: string): Promise<ByteServer | null> {
  const binary = debian('nginx')
  if (binary === null) return null
  const files = madeFolder(folder, 'files')
  const port = freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
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
  ${temporary.join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    location /files/ { alias ${files}/; }
    location /put/ { alias ${files}/; dav_methods PUT; }
    location /put-1m/ { alias ${files}/; dav_methods PUT; client_body_buffer_size 1m; }
  }
}
`,
  )
  const command = [binary, '-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`]
  const name = `nginx ${version(binary, '-v')}`
  return { ...(await startPeer(name, command, port, '/files/')), name, folder: files }
}

/** Apache's WebDAV module, as its manual sets it up. */
export async function startApache(folder: string): Promise<ByteServer | null> {
  const binary = debian('apache2')
  if (binary === null) return null
  const files = madeFolder(folder, 'files')
  const port = freePort()
  const modules = ['mpm_event', 'authz_core', 'alias', 'dav', 'dav_fs'].map(
    (module) => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so`,
  )
  writeFileSync(
    join(folder, 'apache.conf'),
    `ServerRoot ${folder}
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile ${folder}/apache.pid
ErrorLog ${folder}/error.log
${modules.join('\n')}
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
LogFormat "%h %t \\"%r\\" %>s %b" common
DavLockDB ${folder}/locks
LimitRequestBody 0
KeepAlive On
MaxKeepAliveRequests 0
DocumentRoot ${files}
Alias /put ${files}
Alias /files ${files}
<Directory ${files}>
  Dav On
  Require all granted
</Directory>
`,
  )
  if (process.getuid?.() === 0) Bun.spawnSync(['chown', '-R', 'www-data', folder])
  const command = [binary, '-DFOREGROUND', '-f', join(folder, 'apache.conf')]
  const name = `Apache mod_dav ${version(binary, '-v')}`
  return { ...(await startPeer(name, command, port, '/files/')), name, folder: files }
}

/** `rclone serve webdav`; its addresses have no `/put`, so `putUrl` is its root. */
export async function startRclone(folder: string): Promise<ByteServer | null> {
  const binary = debian('rclone')
  if (binary === null) return null
  const files = madeFolder(folder, 'put')
  const port = freePort()
  const command = [binary, 'serve', 'webdav', folder, '--addr', `127.0.0.1:${port}`, '--config', '/dev/null']
  const name = `rclone serve webdav ${version(binary, 'version')}`
  return { ...(await startPeer(name, command, port, '/')), name, folder: files }
}

/** See peers/bare.ts. */
export async function startBare(folder: string): Promise<ByteServer> {
  const files = madeFolder(folder, 'files')
  const server = await startScript([process.execPath, join(import.meta.dir, 'peers/bare.ts'), files])
  return { ...server, name: 'bare Bun server', folder: files }
}

/** @tus/server on the given runtime: Node.js, which it is written for, or Bun. */
export async function startTus(folder: string, runtime: string): Promise<ByteServer> {
  const files = madeFolder(folder, 'files')
  // Compiled first, because not every version of Node.js runs TypeScript.
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'peers/tus.ts')],
    target: 'node',
    packages: 'external',
    outdir: folder,
    naming: 'tus.mjs',
  })
  const server = await startScript([runtime, ...outputs.map(({ path }) => path), files])
  return { ...server, name: `@tus/server ${packages['@tus/server']}`, folder: files }
}

/** Node.js, or null. Bun may put a `node` on PATH that is Bun itself. */
export function findNode(): string | null {
  const program = Bun.which('node')
  if (program === null) return null
  const said = Bun.spawnSync([program, '-p', 'process.versions.bun ?? process.version']).stdout.toString()
  return said.startsWith('v') ? program : null
}

/** Path of a program of Debian, some of which are outside of an ordinary user's PATH. */
export function debian(program: string): string | null {
  return Bun.which(program, { PATH: `${process.env.PATH}:/usr/sbin` })
}

function version(binary: string, option: string): string {
  const { stdout, stderr } = Bun.spawnSync([binary, option])
  return /\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? ''
}

/** A program that is told its port, and answers at the path when it is ready. */
async function startPeer(name: string, command: string[], port: number, path: string): Promise<Server> {
  const errors = outputFile()
  const server = Bun.spawn(command, { stdout: 'ignore', stderr: errors.descriptor })
  const url = `http://127.0.0.1:${port}`
  await until(`${name} to listen`, async () => {
    if (server.exitCode !== null) throw new Error(`${name} does not start: ${errors.text()}`)
    return fetch(url + path).then(
      () => true,
      () => null,
    )
  })
  return { url, pids: [server.pid], stop: () => stopped(server) }
}

/** A script that prints its address when it listens. */
async function startScript(command: string[]): Promise<Server> {
  const output = outputFile()
  const server = Bun.spawn(command, { stdout: output.descriptor, stderr: 'inherit' })
  const url = await until(`${command.join(' ')} to listen`, async () => {
    return /^(.*)\n/.exec(output.text())?.[1] ?? null
  })
  return { url, pids: [server.pid], stop: () => stopped(server) }
}

function madeFolder(folder: string, name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  return path
}

async function stopped(server: Bun.Subprocess): Promise<void> {
  server.kill('SIGTERM')
  await server.exited
}

function freePort(): number {
  using probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  return Number(probe.url.port)
}

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const deadline = performance.now() + READY_WITHIN
  while (performance.now() < deadline) {
    const found = await look()
    if (found !== null) return found
    await Bun.sleep(50)
  }
  throw new Error(`waited ${READY_WITHIN / 1000} s for ${what}`)
}
