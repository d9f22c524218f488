/** A real, temporary PostgreSQL for tests, which can be suspended and crashed. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { eventually } from '../eventually.ts'
import { freePort } from '../processes/free-port.ts'

/** A server of this process on a local port; it ends with the process. */
export interface PostgresServer {
  /** URL of a superuser's own database, `postgres`. */
  readonly url: string
  readonly dataDir: string
  /** Restarts as after a crash: ends every connection at once and recovers from the log. */
  restartImmediate(): Promise<void>
  /** Kills all of its processes, suspended or not, and starts it again after the work. */
  restartAround(work: () => void): Promise<void>
  /** Suspends all of its processes: connections are accepted by the system and never answered. */
  pause(): void
  resume(): void
  /** Stops it and deletes its data. */
  stop(): Promise<void>
}

export interface TestDatabase {
  readonly url: string
  /** Drops the database, even with open connections. */
  drop(): Promise<void>
}

/** Location of PostgreSQL's programs in Debian, one folder per version. */
const DEBIAN = '/usr/lib/postgresql'
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '800',
  // Full durability, because tests check what survives a power cut.
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '128MB',
  log_min_messages: 'warning',
}

/** Why no PostgreSQL is available for tests, or null. */
export function whyNoPostgres(): string | null {
  if (sharedUrl() !== null || programs() !== null) return null
  return 'PostgreSQL is not installed: `apt-get install postgresql`, or name a server in HOLDFAST_TEST_POSTGRES'
}

/**
 * Creates a database, empty or copied from a template, on the server named by HOLDFAST_TEST_POSTGRES
 * (`postgres://…`, a user who may create databases), or on one that this process starts for all its tests.
 * Throws when neither is available.
 */
export async function createDatabase({ copyOf = 'template1' } = {}): Promise<TestDatabase> {
  const { href } = await server()
  const name = `holdfast_test_${crypto.randomUUID().replaceAll('-', '')}`
  // Copied file by file, a database takes a third of the processor time of one that is written to the log.
  await administer(href, `create database ${name} template ${copyOf} strategy file_copy`)
  const url = new URL(href)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: () => administer(href, `drop database if exists ${name} with (force)`),
  }
}

/** Renames a database without open connections; its `url` and `drop` must not be used afterwards. */
export async function renameDatabase({ url }: TestDatabase, name: string): Promise<void> {
  const old = new URL(url).pathname.slice(1)
  await administer((await server()).href, `alter database ${old} rename to ${name}`)
}

/**
 * Starts a server in a temporary folder below `within`, with additional settings. Throws `whyNoPostgres` when
 * it is not installed.
 */
export async function startPostgres(
  more: Readonly<Record<string, string>> = {},
  within = tmpdir(),
): Promise<PostgresServer> {
  const found = programs()
  if (found === null) throw new Error(whyNoPostgres() ?? 'only the server of HOLDFAST_TEST_POSTGRES is there')
  const folder = mkdtempSync(join(within, 'holdfast-postgres-'))
  const log = join(folder, 'log')
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  if (isRoot()) Bun.spawnSync(['chown', '-R', 'postgres:postgres', folder])
  let server: Bun.Subprocess | null = null
  const remove = () => {
    server?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', remove)
  const janitor = removeWithThisProcess(folder)

  const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync']
  const init = Bun.spawnSync(asServerUser([join(found, 'initdb'), `--pgdata=${dataDir}`, ...options]))
  if (init.exitCode !== 0) throw new Error(`initdb failed: ${init.stderr}${init.stdout}`)
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`

  const settings = Object.entries({ ...SETTINGS, ...more, port }).map(([name, value]) => `--${name}=${value}`)
  const serve = [join(found, 'postgres'), '-D', dataDir, ...settings]

  async function launch(): Promise<void> {
    const output = openSync(log, 'a')
    const process = Bun.spawn(asServerUser(serve), { stdin: 'ignore', stdout: 'ignore', stderr: output })
    closeSync(output)
    server = process
    await eventually('PostgreSQL answers', async () => {
      if (process.exitCode !== null)
        throw new Error(`PostgreSQL does not start: ${readFileSync(log, 'utf8')}`)
      return answers(url)
    })
  }

  async function end(signal: 'SIGQUIT' | 'SIGINT'): Promise<void> {
    server?.kill(signal)
    await server?.exited
  }

  await launch()
  return {
    url,
    dataDir,
    async restartImmediate() {
      await end('SIGQUIT')
      await launch()
    },
    async restartAround(work) {
      signalAll(server, 'SIGSTOP')
      signalAll(server, 'SIGKILL')
      await server?.exited
      work()
      await launch()
    },
    pause: () => signalAll(server, 'SIGSTOP'),
    resume: () => signalAll(server, 'SIGCONT'),
    async stop() {
      signalAll(server, 'SIGCONT')
      await end('SIGQUIT')
      remove()
      janitor.kill()
      process.off('exit', remove)
    },
  }
}

async function server(): Promise<URL> {
  return new URL(sharedUrl() ?? (await ownServer()).url)
}

let own: Promise<PostgresServer> | null = null

function ownServer(): Promise<PostgresServer> {
  own ??= startPostgres()
  return own
}

function sharedUrl(): string | null {
  return process.env.HOLDFAST_TEST_POSTGRES || null
}

/** Folder of the newest PostgreSQL's programs, or null. */
function programs(): string | null {
  const inPath = Bun.which('initdb')
  if (inPath !== null) return dirname(inPath)
  if (!existsSync(DEBIAN)) return null
  const [newest] = readdirSync(DEBIAN)
    .filter((version) => existsSync(join(DEBIAN, version, 'bin/initdb')))
    .sort((a, b) => Number(b) - Number(a))
  return newest === undefined ? null : join(DEBIAN, newest, 'bin')
}

/** PostgreSQL refuses to run as root. The kernel ends it with this process, even when this one is killed. */
function asServerUser(command: readonly string[]): string[] {
  const user = isRoot() ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : []
  return ['setpriv', ...user, '--pdeathsig=SIGQUIT', ...command]
}

/** Starts a process that cleans up after this one, because `bun test` does not run `exit` handlers. */
function removeWithThisProcess(folder: string): Bun.Subprocess {
  const script = 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; rm -rf "$2"'
  const janitor = Bun.spawn(['sh', '-c', script, 'sh', String(process.pid), folder], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  janitor.unref()
  return janitor
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    await administer(url, 'select 1')
    return true
  } catch {
    return false
  }
}

/** Signals the server and its children, which are in process groups of their own. */
function signalAll(server: Bun.Subprocess | null, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  if (server === null || server.exitCode !== null || server.signalCode !== null) return
  // Nobody knows the children of a dead one.
  if (signal === 'SIGKILL') signalChildren(server.pid, signal)
  // The server first, since it starts no new children while it is suspended.
  process.kill(server.pid, signal)
  if (signal !== 'SIGKILL') signalChildren(server.pid, signal)
}

function signalChildren(server: number, signal: NodeJS.Signals): void {
  const children = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8')
  for (const pid of children.split(' ').filter(Boolean).map(Number)) signalIfThere(pid, signal)
}

/** A backend may end between the listing and the signal. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
