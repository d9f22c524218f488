/** Real servers shared by a whole test run: PostgreSQL and an S3 gateway, installed where possible. */

import { startPostgres, whyNoPostgres } from '../support/databases/postgres.ts'
import { installTools, missingTools } from '../support/processes/tools.ts'
import { s3Variable, startCeph, whyNoCeph } from '../support/storage/ceph.ts'

export interface Servers {
  /** Environment variables with the servers' addresses. */
  readonly variables: Readonly<Record<string, string>>
  /** Suites that cannot run, and what to do about it. */
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

/** Speeds PostgreSQL up; tests about power cuts use servers of their own, which sync. */
const WITHOUT_SYNC = { fsync: 'off', full_page_writes: 'off' }

/** Installs programs that `npm ci` does not; `servers`: PostgreSQL and Ceph as well. */
export function installForTests(servers: boolean): void {
  installTools([
    ...(!servers || whyNoPostgres() === null ? [] : POSTGRES),
    ...(!servers || whyNoCeph() === null ? [] : CEPH),
  ])
}

/** Starts the available servers in the folder, if `wanted`, and reports what is missing. */
export async function startServers(wanted: boolean, folder: string): Promise<Servers> {
  const missing: Missing[] = missingTools().map(({ tool, reason }) => ({
    suites: `tests with ${tool}`,
    reason,
    cluster: tool === 'nginx',
  }))
  if (!wanted) return { variables: {}, missing, stop: async () => {} }
  const variables: Record<string, string> = {}
  await using started = new AsyncDisposableStack()
  const noCeph = whyNoCeph()
  const ceph = noCeph === null && !process.env.HOLDFAST_TEST_S3 ? startCeph({ folder }) : null
  const noPostgres = whyNoPostgres()
  if (noPostgres !== null) {
    missing.push({ suites: 'everything on PostgreSQL', reason: noPostgres, cluster: true })
  } else if (!process.env.HOLDFAST_TEST_POSTGRES) {
    const server = started.adopt(await startPostgres(WITHOUT_SYNC, folder), (postgres) => postgres.stop())
    variables.HOLDFAST_TEST_POSTGRES = server.url
  }
  if (noCeph !== null) missing.push({ suites: 'everything on S3', reason: noCeph, cluster: true })
  if (ceph !== null) {
    const gateway = started.adopt(await ceph, (it) => it.stop())
    variables.HOLDFAST_TEST_S3 = s3Variable(gateway)
  }
  const running = started.move()
  return { variables, missing, stop: () => running.disposeAsync() }
}
