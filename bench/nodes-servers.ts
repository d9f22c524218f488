/** Nodes of one installation on PostgreSQL and S3, each a process of its own, as they are delivered. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { NGINX_TOOLS, startNginxSite } from '../test/deploy/nginx-site.ts'
import { startCeph, whyNoCeph } from '../test/support/ceph.ts'
import { startPostgres, whyNoPostgres } from '../test/support/postgres.ts'
import { whyNoTools } from '../test/support/tools.ts'
import { type Endpoint, type Holdfast, startHoldfast } from './servers.ts'

export interface Nodes {
  /** The first node by itself. */
  readonly one: Holdfast
  /** All three, behind nginx as it is delivered. */
  readonly all: Endpoint
  /** What they stand on, with versions. */
  readonly parts: string
}

const NODES = 3

/** What has to be installed first, or null. */
export function whyNoNodes(): string | null {
  return whyNoPostgres() ?? whyNoCeph() ?? whyNoTools(...NGINX_TOOLS)
}

/** Starts everything, with logs under the folder and bytes in the folder for temporary files; `ending` stops it. */
export async function startNodes(folder: string, ending: AsyncDisposableStack): Promise<Nodes> {
  const postgres = ending.adopt(await startPostgres(), (server) => server.stop())
  const ceph = ending.adopt(await startCeph({ onDisk: true }), (store) => store.stop())
  const settings = {
    HOLDFAST_DATABASE_URL: postgres.url,
    HOLDFAST_S3_ENDPOINT: ceph.endpoint,
    HOLDFAST_S3_BUCKET: 'holdfast-bench',
    HOLDFAST_S3_REGION: ceph.region,
    HOLDFAST_S3_ACCESS_KEY_ID: ceph.accessKeyId,
    HOLDFAST_S3_SECRET_ACCESS_KEY: ceph.secretAccessKey,
    HOLDFAST_S3_PATH_STYLE: 'true',
    HOLDFAST_TRUSTED_PROXIES: '127.0.0.1',
  }
  const nodes: Holdfast[] = []
  for (let number = 1; number <= NODES; number++) {
    const started = await startHoldfast(join(folder, `node-${number}`), { settings })
    nodes.push(ending.adopt(started, (node) => node.stop()))
  }
  const [first] = nodes
  if (first === undefined) throw new Error('there are no nodes')
  const nginx = ending.use(
    await startNginxSite({
      site: 'holdfast.conf',
      upstream: 'three-nodes.conf',
      nodes: nodes.map(({ url }) => Number(new URL(url).port)),
    }),
  )
  const database = postmaster(postgres.dataDir)
  const behind = { PostgreSQL: [database], Ceph: ceph.pids }
  const [monitor = 0] = ceph.pids
  return {
    one: { ...first, behind },
    all: {
      url: nginx.url,
      pids: nodes.flatMap(({ pids }) => pids),
      behind: { ...behind, nginx: [nginx.pid] },
    },
    parts: `PostgreSQL ${version(database, '--version')}, Ceph ${version(monitor, '--version')} (BlueStore), nginx ${version(nginx.pid, '-v')}, all from Debian`,
  }
}

/** The process of PostgreSQL that has started the others. */
function postmaster(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
}

/** The first number with a dot in what the program of the process says of itself. */
function version(pid: number, option: string): string {
  const { stdout, stderr } = Bun.spawnSync([`/proc/${pid}/exe`, option])
  return /\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'of an unknown version'
}
