/**
 * `npm run bench -- scale`: compares latencies at 10,000 and at 1,000,000 files, or more; writes its section of
 * bench/results.md.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres, whyNoPostgres } from '../test/support/databases/postgres.ts'
import { startChild } from '../test/support/processes/child.ts'
import { describeMachine } from './machine.ts'
import { writeResults } from './results-page.ts'
import { compare, type Served } from './scale/scale-asking.ts'
import { measureDeletion } from './scale/scale-deletion.ts'
import { type ScaleEngine, type ScaleHost, scaleHost } from './scale/scale-hosts.ts'
import { type EngineRun, scaleReport } from './scale/scale-report.ts'

const USAGE = `npm run bench -- scale [options]
  --folder DIR       keep what is made there, for the next run; else it goes to a temporary folder
  --postgres URL     a server to make databases on, by a user who may, and to keep them on for the next run
  --rounds N         how many requests of each kind; 30 unless told
  --minutes N        how long the deletion is watched at most; 60 unless told
  --files N          files of the large account; 1,000,000 unless told; any other number writes to the terminal only
  --only A,B         any of sqlite, postgresql, reads, deletion; writes to the terminal only
  --quick            a tenth of the files and 20 rounds; writes to the terminal only`

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    postgres: { type: 'string' },
    rounds: { type: 'string' },
    minutes: { type: 'string' },
    files: { type: 'string' },
    only: { type: 'string', default: 'sqlite,postgresql,reads,deletion' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const only = values.only.split(',')
const rounds = wholeNumber('rounds', values.rounds ?? (values.quick ? '20' : '30'))
const minutes = wholeNumber('minutes', values.minutes ?? '60')
const SMALL = { files: 10_000, folders: 1000 }
const MILLION = 1_000_000
const largeFiles = wholeNumber('files', values.files ?? String(values.quick ? MILLION / 10 : MILLION))
const LARGE = { files: largeFiles, folders: Math.max(1, Math.floor(largeFiles / 10)) }
const say = (line: string) => console.error(line)

await using ending = new AsyncDisposableStack()
const folder = keptFolder()
const missing: string[] = []
const engines: EngineRun[] = []
for (const engine of await wantedEngines()) engines.push(await measure(engine))
const page = scaleReport({
  date: new Date().toISOString().slice(0, 10),
  machine: describeMachine(folder),
  rounds,
  large: LARGE,
  engines,
  missing,
})
console.log(page)
if (LARGE.files === MILLION && only.length === 4) {
  writeResults(page)
  say('written to bench/results.md')
}

function keptFolder(): string {
  if (values.folder !== undefined) {
    mkdirSync(values.folder, { recursive: true })
    return resolve(values.folder)
  }
  const made = mkdtempSync(join(tmpdir(), 'holdfast-scale-'))
  ending.defer(() => rmSync(made, { recursive: true, force: true }))
  return made
}

async function wantedEngines(): Promise<ScaleEngine[]> {
  const wanted: ScaleEngine[] = []
  if (only.includes('sqlite')) wanted.push({ name: 'SQLite', folder })
  if (!only.includes('postgresql')) return wanted
  const why = values.postgres === undefined ? whyNoPostgres() : null
  if (why !== null) {
    missing.push(why)
    say(`not measured: ${why}`)
    return wanted
  }
  const server = values.postgres ?? ending.adopt(await startPostgres(), (own) => own.stop()).url
  return [...wanted, { name: 'PostgreSQL', folder, server }]
}

async function measure(engine: ScaleEngine): Promise<EngineRun> {
  const small = await scaleHost(engine, SMALL, say)
  const large = await scaleHost(engine, LARGE, say)
  const compared = only.includes('reads')
    ? await serving(small, (one) => serving(large, (other) => compare(one, other, rounds, say)))
    : []
  const deletion = only.includes('deletion')
    ? await measureDeletion(engine, large, LARGE, minutes, say)
    : null
  return { name: engine.name, compared, deletion }
}

async function serving<T>(host: ScaleHost, work: (served: Served) => Promise<T>): Promise<T> {
  await using server = await startChild(host.dataDir, host.settings)
  const result = await work({ host, url: server.url.replace(/\/$/, '') })
  await server.stop()
  return result
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1) return value
  console.error(`--${name} must be a whole number from 1\n${USAGE}`)
  process.exit(2)
}
