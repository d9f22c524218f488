/** The real servers that a whole run of tests shares: PostgreSQL and an S3 gateway, installed where that can be. */
import { existsSync } from 'node:fs'
import { whyNoBalancer } from './balancer.ts'
import { s3Variable, startCeph, whyNoCeph } from './ceph.ts'
import { startPostgres, whyNoPostgres } from './postgres.ts'

export interface Servers {
  /** What tells the tests where the servers are. */
  readonly variables: Readonly<Record<string, string>>
  /** Suites that cannot run, and what is to be done about it. */
  readonly missing: readonly { readonly suites: string; readonly reason: string }[]
  stop(): Promise<void>
}

const ON_NODES = 'the HTTP suite on three nodes'
/** Debian's packages, by what is missing without them. */
const POSTGRES = ['postgresql']
const CEPH = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph-common']
const NGINX = ['nginx']

/** Installs what is missing, where this is Debian and we are root, and starts what there is. */
export async function startServers(): Promise<Servers> {
  install()
  const missing: Servers['missing'][number][] = []
  const variables: Record<string, string> = {}
  await using started = new AsyncDisposableStack()
  const noPostgres = whyNoPostgres()
  if (noPostgres !== null)
    missing.push({ suites: `everything on PostgreSQL, ${ON_NODES}`, reason: noPostgres })
  else if (!process.env.HOLDFAST_TEST_POSTGRES) {
    const server = started.adopt(await startPostgres(), (postgres) => postgres.stop())
    variables.HOLDFAST_TEST_POSTGRES = server.url
  }
  const noCeph = whyNoCeph()
  if (noCeph !== null) missing.push({ suites: `everything on S3, ${ON_NODES}`, reason: noCeph })
  else if (!process.env.HOLDFAST_TEST_S3) {
    const gateway = started.adopt(await startCeph(), (ceph) => ceph.stop())
    variables.HOLDFAST_TEST_S3 = s3Variable(gateway)
  }
  const noBalancer = whyNoBalancer()
  if (noBalancer !== null) missing.push({ suites: ON_NODES, reason: noBalancer })
  const running = started.move()
  return { variables, missing, stop: () => running.disposeAsync() }
}

/** Leaves alone what is there already. What cannot be installed shows when it is looked for. */
function install(): void {
  const packages = [
    ...(whyNoPostgres() === null ? [] : POSTGRES),
    ...(whyNoCeph() === null ? [] : CEPH),
    ...(whyNoBalancer() === null ? [] : NGINX),
  ]
  if (packages.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return
  console.error(`installing for the tests: ${packages.join(' ')}`)
  const apt = (...command: string[]) =>
    Bun.spawnSync(['apt-get', ...command], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'inherit',
    }).success
  if (!apt('update', '-q') || !apt('install', '-y', '-q', '--no-install-recommends', ...packages)) {
    console.error('apt-get failed; what it could not install is left out')
  }
}
