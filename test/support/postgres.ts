/** A real PostgreSQL for tests: thrown away afterwards, and made to stand still or die in between. */
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
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

/** A server of this process on a port of this machine; it ends with the process. */
export interface PostgresServer {
  /** Of a superuser's own database, `postgres`. */
  readonly url: string
  readonly dataDir: string
  /** Ends every connection in the middle of what it does, recovers from the log and answers again, as after a crash. */
  restartImmediate(): Promise<void>
  /** Every process of it stands still: connections are taken by the system and nothing answers. */
  pause(): void
  resume(): void
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

export interface TestDatabase {
  readonly url: string
  /** Removes the database, whoever is connected. */
  drop(): Promise<void>
}

/** Where Debian's packages put the programs, one folder for each version. */
const DEBIAN = '/usr/lib/postgresql'
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '400',
  // What is tested is what would survive a power cut, so nothing is left out to be faster.
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '128MB',
  log_min_messages: 'warning',
}

/** What stands in the way of a PostgreSQL for tests, or null. */
export function whyNoPostgres(): string | null {
  if (sharedUrl() !== null || programs() !== null) return null
  return 'PostgreSQL is not installed: `apt-get install postgresql`, or name a server in HOLDFAST_TEST_POSTGRES'
}

/**
 * A new database, empty or a copy of the one of that name, on the server that HOLDFAST_TEST_POSTGRES names
 * (`postgres://…`, a user who may make databases), or on one that this process starts for all its tests. Throws when
 * there is neither.
 */
export async function createDatabase({ copyOf = 'template1' } = {}): Promise<TestDatabase> {
  const { href } = await server()
  const name = `holdfast_test_${crypto.randomUUID().replaceAll('-', '')}`
  await administer(href, `create database ${name} template ${copyOf}`)
  const url = new URL(href)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: () => administer(href, `drop database if exists ${name} with (force)`),
  }
}

/** Gives a database, to which nobody is connected, another name; its `url` and `drop` are of no use afterwards. */
export async function renameDatabase({ url }: TestDatabase, name: string): Promise<void> {
  const old = new URL(url).pathname.slice(1)
  await administer((await server()).href, `alter database ${old} rename to ${name}`)
}

/**
 * Starts a server in a temporary folder; `more` are settings of its own. Throws what `whyNoPostgres` says when it is not
 * installed.
 */
export async function startPostgres(more: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const found = programs()
  if (found === null) throw new Error(whyNoPostgres() ?? 'only the server of HOLDFAST_TEST_POSTGRES is there')
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'))
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

/** The folder of the newest PostgreSQL's programs, or null. */
function programs(): string | null {
  const inPath = Bun.which('initdb')
  if (inPath !== null) return dirname(inPath)
  if (!existsSync(DEBIAN)) return null
  const [newest] = readdirSync(DEBIAN)
    .filter((version) => existsSync(join(DEBIAN, version, 'bin/initdb')))
    .sort((a, b) => Number(b) - Number(a))
  return newest === undefined ? null : join(DEBIAN, newest, 'bin')
}

/** PostgreSQL refuses to be root. With this process it ends, even when this one is killed. */
function asServerUser(command: readonly string[]): string[] {
  const user = isRoot() ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : []
  return ['setpriv', ...user, '--pdeathsig=SIGQUIT', ...command]
}

/** `bun test` runs no handlers of `exit`, so somebody else has to look after what this process leaves. */
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

/** Sends the signal to the server and to all that it has started, which are groups of their own. */
function signalAll(server: Bun.Subprocess | null, signal: 'SIGSTOP' | 'SIGCONT'): void {
  if (server === null || server.exitCode !== null || server.signalCode !== null) return
  // The server first: while it stands still it starts nothing new.
  process.kill(server.pid, signal)
  const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
  for (const pid of children.split(' ').filter(Boolean).map(Number)) signalIfThere(pid, signal)
}

/** A backend may end between being listed and being signalled. */
function signalIfThere(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
