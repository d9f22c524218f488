/** Nodes of one installation on PostgreSQL and S3, each in a process of its own, as in production. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { NGINX_TOOLS, startNginxSite } from '../../test/deploy/nginx-site.ts'
import { startPostgres, whyNoPostgres } from '../../test/support/databases/postgres.ts'
import { whyNoTools } from '../../test/support/processes/tools.ts'
import { startCeph, whyNoCeph } from '../../test/support/storage/ceph.ts'
import { type MeasuredEndpoint, type MeasuredHoldfast, startMeasuredHoldfast } from '../servers.ts'

export interface MeasuredNodes {
  /** The first node alone. */
  readonly one: MeasuredHoldfast
  /** All three nodes behind nginx with the documented configuration. */
  readonly all: MeasuredEndpoint
  /** Backing services with versions. */
  readonly parts: string
}

const NODES = 3

/** Missing programs that must be installed first, or null. */
export function whyNoNodes(): string | null {
  return whyNoPostgres() ?? whyNoCeph() ?? whyNoTools(...NGINX_TOOLS)
}

/** Starts everything, with logs below the folder and data in the temporary folder; `ending` stops it. */
export async function startNodes(folder: string, ending: AsyncDisposableStack): Promise<MeasuredNodes> {
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
  const nodes: MeasuredHoldfast[] = []
  for (let number = 1; number <= NODES; number++) {
    const started = await startMeasuredHoldfast(join(folder, `node-${number}`), { settings })
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

/** PostgreSQL's main process. */
export function postmaster(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
}

/** Version number in the output of the process's program. */
function version(pid: number, option: string): string {
  const { stdout, stderr } = Bun.spawnSync([`/proc/${pid}/exe`, option])
  return /\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'of an unknown version'
}
