/**
 * CPU time of the node and of PostgreSQL for one file detail, one page of a list, one small upload and one range of a
 * file; see USAGE. Writes to the terminal only.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { startPostgres } from '../../test/support/databases/postgres.ts'
import { startCeph } from '../../test/support/storage/ceph.ts'
import { runClient } from '../client-job.ts'
import { GIB, type Measurement, median } from '../measure.ts'
import { uploadListed } from '../preparation.ts'
import { detailPath, loaded, pagePath } from '../requests.ts'
import { startMeasuredHoldfast } from '../servers.ts'
import { SMALL_FILE, uploader, uploadTo } from '../uploads.ts'
import { contentOperations, type Operation } from './content-costs.ts'
import { postmaster } from './nodes-servers.ts'

const USAGE = `npx bun bench/nodes/operation-costs.ts [options]
  --against DIR   measures the working tree in DIR too, in turn with this one; it needs its node_modules
  --rounds N      how many rounds; 3 unless told
  --uploads       uploads only
  --content       bytes of files only, and what runs by itself
  --store         files go to Ceph instead of a folder
  --profile DIR   writes CPU profiles there; the figures are higher then
  --statements    tells what PostgreSQL executed; the figures are higher then`

const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    uploads: { type: 'boolean', default: false },
    content: { type: 'boolean', default: false },
    store: { type: 'boolean', default: false },
    profile: { type: 'string' },
    statements: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)
if (values.help || !Number.isInteger(rounds) || rounds < 1) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

const SECONDS = 3
const SMALL_FILES = 300
const LISTED = 1000
const THOUSAND = 1000

await using ending = new AsyncDisposableStack()
const folder = ending.adopt(mkdtempSync(join(tmpdir(), 'holdfast-bench-')), (made) =>
  rmSync(made, { recursive: true, force: true }),
)
const ceph = values.store
  ? ending.adopt(await startCeph({ onDisk: true }), (store) => store.stop())
  : undefined
const trees = [undefined, ...(values.against === undefined ? [] : [resolve(values.against)])]
const measured: Awaited<ReturnType<typeof startTree>>[] = []
for (const tree of trees) measured.push(await startTree(tree, measured.length))

const found = new Map<Operation, Measurement[]>()
for (let round = 0; round < rounds; round++) {
  for (const at of measured[0]?.operations.keys() ?? []) {
    for (let turn = 0; turn < measured.length; turn++) {
      const { operations, reset, tellStatements } = measured[(turn + round) % measured.length] ?? {}
      const operation = operations?.[at]
      if (operation === undefined) continue
      await reset?.()
      found.set(operation, [...(found.get(operation) ?? []), await operation.run()])
      await tellStatements?.(operation.name)
    }
  }
}
for (const [{ name, unit }, measurements] of found) {
  const each = (value: (measurement: Measurement) => number) =>
    ((median(measurements.map(value)) / unit) * THOUSAND).toFixed(3)
  const rate = median(measurements.map((measurement) => measurement.rate)).toFixed(0)
  const cpu = each((measurement) => measurement.cpu ?? Number.NaN)
  const behind = each((measurement) => measurement.behind?.PostgreSQL ?? Number.NaN)
  console.log(`${name}: ${rate}/s, node ${cpu} ms, PostgreSQL ${behind} ms`)
}

/** A node of the tree with a PostgreSQL of its own, warmed up. */
async function startTree(tree: string | undefined, number: number) {
  const watching = {
    shared_preload_libraries: 'pg_stat_statements',
    'pg_stat_statements.track': 'all',
    'pg_stat_statements.track_planning': 'on',
  }
  const postgres = ending.adopt(await startPostgres(values.statements ? watching : {}), (server) =>
    server.stop(),
  )
  const store = ceph && {
    HOLDFAST_S3_ENDPOINT: ceph.endpoint,
    HOLDFAST_S3_BUCKET: `holdfast-bench-${number}`,
    HOLDFAST_S3_REGION: ceph.region,
    HOLDFAST_S3_ACCESS_KEY_ID: ceph.accessKeyId,
    HOLDFAST_S3_SECRET_ACCESS_KEY: ceph.secretAccessKey,
    HOLDFAST_S3_PATH_STYLE: 'true',
  }
  const settings = { HOLDFAST_DATABASE_URL: postgres.url, HOLDFAST_GUEST_RATE_LIMIT: '1000000', ...store }
  const profile = values.profile && join(values.profile, `tree-${number}`)
  const node = ending.adopt(
    await startMeasuredHoldfast(join(folder, `node-${number}`), { settings, tree, profile }),
    (server) => server.stop(),
  )
  const statements = new Client({ connectionString: postgres.url })
  await statements.connect()
  ending.defer(() => statements.end())
  if (values.statements) await statements.query('create extension pg_stat_statements')

  const server = { ...node, behind: { PostgreSQL: [postmaster(postgres.dataDir)] } }
  const key = await node.addAccount('bench')
  const to = uploadTo(node, key)
  // Statements are prepared, and code is compiled, before anything counts.
  await runClient({ kind: 'upload', to, size: SMALL_FILE, count: 200, connections: 16, firstNumber: 2e9 })
  const name = tree ?? 'this tree'
  const uploads = (connections: number): Operation => ({
    name: `small upload, ${connections} at once, ${name}`,
    unit: GIB / SMALL_FILE,
    run: () => uploader('', server, to, SMALL_FILE, SMALL_FILES, connections, SMALL_FILE).run(0),
  })
  const operations = values.content ? await contentOperations(server, key, name) : [uploads(1), uploads(16)]
  if (!values.uploads && !values.content) {
    const listed = await uploadListed(node, LISTED)
    const requests = (title: string, path: string): Operation => ({
      name: `${title}, ${name}`,
      unit: 1e6,
      run: () => loaded('', server, path, listed.key, SECONDS).run(0),
    })
    operations.unshift(
      requests('file detail, 32 at once', detailPath(listed.slug)),
      requests('page of 100, 32 at once', pagePath(1)),
    )
    await loaded('', node, detailPath(listed.slug), listed.key, 1).run(0)
    await loaded('', node, pagePath(1), listed.key, 1).run(0)
  }
  return {
    operations,
    reset: async () => {
      if (values.statements) await statements.query('select pg_stat_statements_reset()')
    },
    tellStatements: async (operation: string) => {
      if (values.statements) await tellStatements(statements, operation)
    },
  }
}

async function tellStatements(statements: Client, name: string): Promise<void> {
  const { rows } = await statements.query<{ calls: string; ms: string; query: string }>(`
    select calls, round((total_exec_time + total_plan_time)::numeric / calls, 4) as ms,
      left(regexp_replace(query, '\\s+', ' ', 'g'), 150) as query
    from pg_stat_statements where calls >= 5 order by calls desc limit 60`)
  console.log(`\n${name}`)
  for (const { calls, ms, query } of rows) console.log(`${calls.padStart(7)} × ${ms} ms  ${query}`)
}
