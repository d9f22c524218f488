/** The real servers that a whole run of tests shares: PostgreSQL and an S3 gateway, installed where that can be. */
import { s3Variable, startCeph, whyNoCeph } from './ceph.ts'
import { startPostgres, whyNoPostgres } from './postgres.ts'
import { installTools, missingTools } from './tools.ts'

export interface Servers {
  /** What tells the tests where the servers are. */
  readonly variables: Readonly<Record<string, string>>
  /** Suites that cannot run, and what is to be done about it. */
  readonly missing: readonly Missing[]
  stop(): Promise<void>
}

interface Missing {
  readonly suites: string
  readonly reason: string
  /** Whether the HTTP suite on three nodes cannot run without it. */
  readonly cluster: boolean
}

/** Debian's packages. */
const POSTGRES = ['postgresql']
const CEPH = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph-common', 'curl']

/** Installs what the tests run and `npm ci` does not bring; `servers`: PostgreSQL and Ceph as well. */
export function installForTests(servers: boolean): void {
  installTools([
    ...(!servers || whyNoPostgres() === null ? [] : POSTGRES),
    ...(!servers || whyNoCeph() === null ? [] : CEPH),
  ])
}

/** Starts what there is, if servers are `wanted`, and tells what is missing. */
export async function startServers(wanted: boolean): Promise<Servers> {
  const missing: Missing[] = missingTools().map(({ tool, reason }) => ({
    suites: `tests with ${tool}`,
    reason,
    cluster: tool === 'nginx',
  }))
  if (!wanted) return { variables: {}, missing, stop: async () => {} }
  const variables: Record<string, string> = {}
  await using started = new AsyncDisposableStack()
  const noPostgres = whyNoPostgres()
  if (noPostgres !== null) {
    missing.push({ suites: 'everything on PostgreSQL', reason: noPostgres, cluster: true })
  } else if (!process.env.HOLDFAST_TEST_POSTGRES) {
    const server = started.adopt(await startPostgres(), (postgres) => postgres.stop())
    variables.HOLDFAST_TEST_POSTGRES = server.url
  }
  const noCeph = whyNoCeph()
  if (noCeph !== null) missing.push({ suites: 'everything on S3', reason: noCeph, cluster: true })
  else if (!process.env.HOLDFAST_TEST_S3) {
    const gateway = started.adopt(await startCeph(), (ceph) => ceph.stop())
    variables.HOLDFAST_TEST_S3 = s3Variable(gateway)
  }
  const running = started.move()
  return { variables, missing, stop: () => running.disposeAsync() }
}
