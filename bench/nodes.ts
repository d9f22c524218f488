/** One node and three nodes on PostgreSQL and S3, beside Holdfast on SQLite and a folder in the same run. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres, whyNoPostgres } from '../test/support/databases/postgres.ts'
import { whyNoTools } from '../test/support/processes/tools.ts'
import { NGINX_TOOLS, startNginxSite } from '../test/support/servers/nginx-site.ts'
import { startCeph, whyNoCeph } from '../test/support/storage/ceph.ts'
import type { Options } from './bench.ts'
import { type Job, runClient, type UploadTarget } from './client.ts'
import { loaded } from './machine.ts'
import { type Contender, GIB, MIB, measureAll, type Scenario, withUsage } from './measure.ts'
import { recordRun, sectionOf, writeSection } from './report.ts'
import { addListed, contentAddress, type Endpoint, type Holdfast, startHoldfast } from './servers.ts'

const NODES = 3
const SMALL = 100 * 1024

/** One installation of Holdfast. */
interface Installation {
  readonly name: string
  readonly server: Endpoint
  readonly key: string
  /** Slug of the big file. */
  readonly slug: string
  readonly listed: { readonly key: string; readonly slug: string }
}

/** Writes its section of results.md, and a line of history.jsonl, when the run is whole. */
export async function nodes({ quick, rounds, only }: Options): Promise<void> {
  const obstacle = whyNoPostgres() ?? whyNoCeph() ?? whyNoTools(...NGINX_TOOLS)
  if (obstacle !== null) throw new Error(obstacle)
  const [big, count, seconds] = quick ? [256 * MIB, 200, 2] : [GIB, 1000, 5]
  await using ending = new AsyncDisposableStack()
  const folder = ending.adopt(mkdtempSync(join(tmpdir(), 'holdfast-bench-')), (made) =>
    rmSync(made, { recursive: true, force: true }),
  )
  const alone = ending.adopt(await startHoldfast(join(folder, 'alone')), (server) => server.stop())
  const { one, three, services } = await startNodes(folder, ending)
  const onFolder = await prepare(alone, big)
  const onServices = await prepare(one, big)
  const installations: Installation[] = [
    { name: 'SQLite, folder', server: alone, ...onFolder },
    { name: 'one node', server: one, ...onServices },
    { name: 'three nodes', server: three, ...onServices },
  ]
  const scenarios = scenariosOf(installations, { big, count, seconds })
  const run = {
    heading: 'One node and three, on PostgreSQL and S3',
    program: 'nodes',
    rounds,
    peers: [services],
    missing: [],
    measured: await measureAll(
      scenarios.filter(({ title }) => only.length === 0 || only.some((part) => title.includes(part))),
      rounds,
      folder,
    ),
  }
  const section = sectionOf(run)
  console.log(section)
  if (quick || only.length > 0) return
  writeSection(section)
  recordRun(run)
}

async function startNodes(folder: string, ending: AsyncDisposableStack) {
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
  const start = async (number: number) =>
    ending.adopt(await startHoldfast(join(folder, `node-${number}`), { settings }), (node) => node.stop())
  const first = await start(1)
  const others: Holdfast[] = []
  for (let number = 2; number <= NODES; number++) others.push(await start(number))
  const all = [first, ...others]
  const nginx = ending.use(
    await startNginxSite({
      site: 'holdfast.conf',
      upstream: 'three-nodes.conf',
      nodes: all.map(({ url }) => Number(new URL(url).port)),
    }),
  )
  const postmaster = Number(readFileSync(join(postgres.dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
  const behind = { PostgreSQL: [postmaster], Ceph: ceph.pids }
  const three: Endpoint = {
    url: nginx.url,
    pids: all.flatMap(({ pids }) => pids),
    behind: { ...behind, nginx: [nginx.pid] },
  }
  const [monitor = 0] = ceph.pids
  const versions = [
    `PostgreSQL ${version(postmaster, '--version')}`,
    `Ceph ${version(monitor, '--version')} (BlueStore)`,
    `nginx ${version(nginx.pid, '-v')}`,
  ]
  return { one: { ...first, behind }, three, services: `${versions.join(', ')}, all from Debian` }
}

async function prepare(holdfast: Holdfast, big: number): Promise<Omit<Installation, 'name' | 'server'>> {
  const key = await holdfast.addAccount('bench')
  const to = { by: 'form', url: `${holdfast.url}/api/v1/upload`, key } as const
  const [slug = ''] = (await runClient({ kind: 'upload', to, size: big, count: 2, connections: 1, first: 0 }))
    .names
  return { key, slug, listed: await addListed(holdfast, 10_000) }
}

function scenariosOf(
  installations: readonly Installation[],
  { big, count, seconds }: { readonly big: number; readonly count: number; readonly seconds: number },
): Scenario[] {
  const each = (contender: (installation: Installation) => Omit<Contender, 'name'>): Contender[] =>
    installations.map((it) => ({ name: it.name, ...contender(it) }))
  const jobs = (
    job: (it: Installation) => Promise<Job>,
    rate: (seconds: number) => number,
    done: number,
  ): Contender[] =>
    each((it) => ({
      async run() {
        const { result, sample } = await withUsage(it.server, async () => runClient(await job(it)))
        return sample(rate(result.seconds), done)
      },
    }))
  let next = 1
  const upload = (size: number, files: number, connections: number) => async (it: Installation) => {
    const to: UploadTarget = { by: 'form', url: `${it.server.url}/api/v1/upload`, key: it.key }
    const first = next
    next += files
    return { kind: 'upload', to, size, count: files, connections, first } as const
  }
  const small = (title: string, connections: number): Scenario => ({
    title: `Upload of ${count} files of 100 KiB, ${title}`,
    unit: 'files/s',
    per: '1,000 files',
    writes: count * SMALL,
    contenders: jobs(upload(SMALL, count, connections), (took) => count / took, count / 1000),
  })
  const requests = (title: string, path: (slug: string) => string): Scenario => ({
    title,
    unit: 'requests/s',
    per: '1,000 requests',
    contenders: each(({ name, server, listed }) =>
      loaded(name, server, server.url + path(listed.slug), listed.key, seconds),
    ),
  })
  const address = (it: Installation) => contentAddress(it.server, it.slug)
  return [
    {
      title: 'Upload of one big file',
      unit: 'MiB/s',
      per: 'GiB',
      writes: big,
      contenders: jobs(upload(big, 1, 1), (took) => big / MIB / took, big / GIB),
    },
    small('one after another', 1),
    small('16 at once', 16),
    {
      title: 'Download of one big file',
      unit: 'MiB/s',
      per: 'GiB',
      contenders: jobs(
        async (it) => ({ kind: 'download', urls: [await address(it)] }),
        (took) => big / MIB / took,
        big / GIB,
      ),
    },
    {
      title: `${count} random ranges of 1 MiB`,
      unit: 'ranges/s',
      per: 'GiB',
      contenders: jobs(
        async (it) => ({ kind: 'ranges', url: await address(it), count, length: MIB, size: big }),
        (took) => count / took,
        (count * MIB) / GIB,
      ),
    },
    requests('File detail, with a key', (slug) => `/api/v1/file/${slug}`),
    requests('First page, 100 of 10000 files', () => '/api/v1/files?per_page=100'),
  ]
}

/** Version number in the output of the process's program. */
function version(pid: number, option: string): string {
  const { stdout, stderr } = Bun.spawnSync([`/proc/${pid}/exe`, option])
  return /\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'of an unknown version'
}
