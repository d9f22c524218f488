/**
 * `bun bench/nodes/operation-costs.ts [rounds] [--statements]`: CPU time of the node and of PostgreSQL for one file
 * detail, one page of a list and one small upload; with `--statements` also what PostgreSQL executed for them. Files are
 * stored in a folder, so that the store's own work is not measured. Writes to the terminal only.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { startPostgres } from '../../test/support/databases/postgres.ts'
import { runClient } from '../client-job.ts'
import { GIB, type Measurement, median } from '../measure.ts'
import { uploadListed } from '../preparation.ts'
import { detailPath, loaded, pagePath } from '../requests.ts'
import { startMeasuredHoldfast } from '../servers.ts'
import { SMALL_FILE, uploader, uploadTo } from '../uploads.ts'
import { postmaster } from './nodes-servers.ts'

const SECONDS = 3
const SMALL_FILES = 300
const LISTED = 1000
const THOUSAND = 1000

interface Operation {
  readonly name: string
  /** Operations per unit in which CPU time is measured. */
  readonly unit: number
  run(): Promise<Measurement>
}

const rounds = Number(process.argv[2] ?? 3)
const tellsStatements = process.argv.includes('--statements')

await using ending = new AsyncDisposableStack()
const folder = ending.adopt(mkdtempSync(join(tmpdir(), 'holdfast-bench-')), (made) =>
  rmSync(made, { recursive: true, force: true }),
)
const watching = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'all' }
const postgres = ending.adopt(await startPostgres(tellsStatements ? watching : {}), (server) => server.stop())
const settings = { HOLDFAST_DATABASE_URL: postgres.url, HOLDFAST_GUEST_RATE_LIMIT: '1000000' }
const node = ending.adopt(await startMeasuredHoldfast(join(folder, 'node'), { settings }), (server) =>
  server.stop(),
)
const statements = new Client({ connectionString: postgres.url })
await statements.connect()
ending.defer(() => statements.end())
if (tellsStatements) await statements.query('create extension pg_stat_statements')

const measured = { ...node, behind: { PostgreSQL: [postmaster(postgres.dataDir)] } }
const key = await node.addAccount('bench')
const listed = await uploadListed(node, LISTED)
await warmedUp()

const requests = (name: string, path: string): Operation => ({
  name,
  unit: 1e6,
  run: () => loaded(name, measured, path, listed.key, SECONDS).run(0),
})
const uploads = (connections: number): Operation => ({
  name: `small upload, ${connections} at once`,
  unit: GIB / SMALL_FILE,
  run: () =>
    uploader('', measured, uploadTo(node, key), SMALL_FILE, SMALL_FILES, connections, SMALL_FILE).run(0),
})
const operations = [
  requests('file detail, 32 at once', detailPath(listed.slug)),
  requests('page of 100, 32 at once', pagePath(1)),
  uploads(1),
  uploads(16),
]

const found = new Map<Operation, Measurement[]>(operations.map((operation) => [operation, []]))
for (let round = 0; round < rounds; round++) {
  for (const operation of operations) {
    if (tellsStatements) await statements.query('select pg_stat_statements_reset()')
    const measurement = await operation.run()
    found.get(operation)?.push(measurement)
    if (tellsStatements) await tellStatements(operation.name)
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

/** Statements are prepared, and code is compiled, before anything counts. */
async function warmedUp(): Promise<void> {
  const to = uploadTo(node, key)
  await runClient({ kind: 'upload', to, size: SMALL_FILE, count: 200, connections: 16, firstNumber: 2e9 })
  await loaded('', node, detailPath(listed.slug), listed.key, 1).run(0)
  await loaded('', node, pagePath(1), listed.key, 1).run(0)
}

async function tellStatements(name: string): Promise<void> {
  const { rows } = await statements.query<{ calls: string; ms: string; query: string }>(`
    select calls, round((total_exec_time + total_plan_time)::numeric / calls, 4) as ms,
      left(regexp_replace(query, '\\s+', ' ', 'g'), 150) as query
    from pg_stat_statements where calls >= 20 order by calls desc limit 60`)
  console.log(`\n${name}`)
  for (const { calls, ms, query } of rows) console.log(`${calls.padStart(7)} × ${ms} ms  ${query}`)
}
