/** Deletes a tree of a million files and measures the latency of other requests meanwhile. */
import { join } from 'node:path'
import type { Database } from '../../src/database/database.ts'
import { deletedFiles } from '../../src/files/file-removal.rows.ts'
import { isClearing } from '../../src/files/folders/folders.rows.ts'
import { startChild } from '../../test/support/processes/child.ts'
import { outputFile } from '../../test/support/processes/output-file.ts'
import { quantile } from './scale-asking.ts'
import { scaleClient } from './scale-client.ts'
import { copyOf, databaseOf, type ScaleEngine, type ScaleHost } from './scale-hosts.ts'
import { RARE } from './scale-needles.ts'
import type { ProbeJob, ProbeLoop, ProbeSample } from './scale-probe.ts'
import { OUTSIDE, type ScaleSize } from './scale-shape.ts'

export interface MeasuredDeletion {
  /** Milliseconds until the response. */
  readonly answered: number
  readonly phases: readonly Phase[]
}

export interface Phase {
  readonly name: string
  readonly seconds: number
  /** Whether work remained when the time limit was reached. */
  readonly isCut: boolean
  readonly probes: readonly Probed[]
}

export interface Probed {
  readonly name: string
  readonly count: number
  /** Files from oldest to newest. Requires their blobs. */
  readonly median: number
  readonly p99: number
  readonly most: number
}

export const HEALTH = '/health'
/** Limit in milliseconds for the 99th percentile of /health. */
export const HEALTH_MOST = 200
const QUIET = 10_000
const LOOK_EVERY = 500

/**
 * No server may be running on the host. Throws when a probe gets a wrong answer, or when the totals after the
 * deletion are wrong.
 */
export async function measureDeletion(
  engine: ScaleEngine,
  host: ScaleHost,
  size: ScaleSize,
  minutes: number,
  say: (line: string) => void,
): Promise<MeasuredDeletion> {
  say('copying the database, to delete the tree in the copy')
  const copy = await copyOf(engine, host)
  try {
    await using server = await startChild(copy.dataDir, copy.settings)
    const url = server.url.replace(/\/$/, '')
    const { db, close } = await databaseOf(copy)
    const probe = startProbe({ url, apiKey: copy.apiKey, loops: loops(copy) })
    await probe.ready
    const marks: { name: string; from: number; isCut: boolean }[] = []
    const mark = (name: string) => marks.push({ name, from: Date.now(), isCut: false })
    const deadline = Date.now() + QUIET + minutes * 60_000
    mark('before')
    await Bun.sleep(QUIET)

    mark('marking what was below')
    const { milliseconds, body } = await scaleClient(url, copy.apiKey).ask({
      method: 'POST',
      path: '/api/v1/folder/delete',
      body: { identifiers: [copy.facts.tree] },
    })
    if (body.files_deleted !== size.files) throw new Error(`the delete counts ${body.files_deleted} files`)
    say(`the delete was answered in ${milliseconds.toFixed(1)} ms`)
    const account = await scaleClient(url, copy.apiKey).ask({ method: 'GET', path: '/api/v1/account' })
    if (!hasOnlyOthers(account.body.data))
      throw new Error(`the account still counts: ${Bun.inspect(account.body)}`)

    const steps = [
      { name: 'removing rows', before: async () => isClearing(db, copy.account) },
      {
        name: 'removing bytes',
        before: async () => (await deletedFiles(db, 1)).length > 0 || (await hasDeleted(db)),
      },
      { name: 'after', before: () => hasGarbage(db) },
    ]
    for (const { name, before } of steps) {
      while (Date.now() < deadline && (await before())) await Bun.sleep(LOOK_EVERY)
      const last = marks.at(-1)
      if (Date.now() >= deadline && last !== undefined) {
        last.isCut = true
        break
      }
      say(`${last?.name}: ${((Date.now() - (last?.from ?? 0)) / 1000).toFixed(0)} s`)
      mark(name)
    }
    if (marks.at(-1)?.isCut === false) await Bun.sleep(QUIET)
    const end = Date.now()
    const samples = await probe.end()
    await close()
    await server.stop()
    const wrong = samples.find((sample) => sample.problem !== null)
    if (wrong !== undefined) throw new Error(`${wrong.name}: ${wrong.problem}`)
    return {
      answered: milliseconds,
      phases: marks.map(({ name, from, isCut }, at) => {
        const until = marks[at + 1]?.from ?? end
        const within = samples.filter(({ due }) => due >= from && due < until)
        return {
          name,
          seconds: (until - from) / 1000,
          isCut,
          probes: loops(copy).map((loop) => probed(loop, within)),
        }
      }),
    }
  } finally {
    await copy.remove()
  }
}

/** Requests of other users meanwhile. */
function loops({ facts }: ScaleHost): ProbeLoop[] {
  const list = '/api/v1/files?per_page=20'
  return [
    { name: HEALTH, every: 10, path: HEALTH },
    { name: 'account', every: 100, path: '/api/v1/account' },
    { name: 'files of another folder', every: 250, path: `/api/v1/folder/${facts.outside[1]}/files?page=1` },
    { name: 'list, newest first', every: 5000, path: list },
    { name: 'list, oldest first', every: 5000, path: `${list}&order=asc` },
    { name: `search "${RARE.word}"`, every: 5000, path: `${list}&search=${RARE.word}` },
    { name: 'upload of a small file', every: 500, path: null },
  ]
}

function probed({ name }: ProbeLoop, samples: readonly ProbeSample[]): Probed {
  const times = samples.filter((sample) => sample.name === name).map(({ milliseconds }) => milliseconds)
  return {
    name,
    count: times.length,
    median: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    most: quantile(times, 1),
  }
}

function startProbe(job: ProbeJob): { ready: Promise<void>; end(): Promise<ProbeSample[]> } {
  const output = outputFile()
  const probe = Bun.spawn([process.execPath, join(import.meta.dir, 'scale-probe.ts'), JSON.stringify(job)], {
    stdin: 'pipe',
    stdout: output.descriptor,
    stderr: 'inherit',
  })
  async function hasStarted(): Promise<void> {
    while (output.text() === '') {
      if (probe.exitCode !== null) throw new Error('the probe does not start')
      await Bun.sleep(5)
    }
  }
  return {
    ready: hasStarted(),
    async end() {
      await probe.stdin.end()
      await probe.exited
      output.close()
      const text = output.text()
      return JSON.parse(text.slice(text.indexOf('\n')))
    },
  }
}

/** Whether the only remaining files are those outside of the tree and those uploaded since. */
function hasOnlyOthers(data: unknown): boolean {
  if (typeof data !== 'object' || data === null || !('files_count' in data)) return false
  const count = Number(data.files_count)
  return count >= OUTSIDE.files && count < OUTSIDE.files * 2
}

async function hasDeleted(db: Database): Promise<boolean> {
  const row = await db
    .selectFrom('folders')
    .select('id')
    .where('deleted_at', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

async function hasGarbage(db: Database): Promise<boolean> {
  return (await db.selectFrom('blob_garbage').select('key').limit(1).executeTakeFirst()) !== undefined
}
