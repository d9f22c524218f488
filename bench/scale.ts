/** The same questions to an account with 10,000 files and to one with 1,000,000, on SQLite and on PostgreSQL. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { loadConfig } from '../src/config.ts'
import { topFolder } from '../src/core/accounts.rows.ts'
import { systemClock } from '../src/domain/clock.ts'
import { systemRandom } from '../src/domain/random.ts'
import { openAdministration } from '../src/operations/administration.ts'
import { openDatabase } from '../src/storage.ts'
import { startPostgres, whyNoPostgres } from '../test/support/databases/postgres.ts'
import type { Options } from './bench.ts'
import { median } from './measure.ts'
import { headOf, writeSection } from './report.ts'
import { type Facts, loadPostgres, loadSqlite, NEEDLES, RARE, rowsOf } from './scale-rows.ts'
import { type Holdfast, startHoldfast } from './servers.ts'

/** Milliseconds for a search that meets very many names, or has no trigram. */
const HARD = 250
/** Searches of the file manager count matches exactly up to this number. */
const COUNTED = 10_000
const WARM_UP = 6

/** An installation whose account has very many files. */
export interface ScaleHost {
  readonly settings: Readonly<Record<string, string>>
  readonly key: string
  readonly facts: Facts
}

/** Writes its section of results.md when the run is whole. Throws when an answer is wrong. */
export async function scale({ quick, rounds, only }: Options): Promise<void> {
  const large = quick ? 100_000 : 1_000_000
  const times = rounds * 5
  await using ending = new AsyncDisposableStack()
  const folder = ending.adopt(mkdtempSync(join(tmpdir(), 'holdfast-scale-')), (made) =>
    rmSync(made, { recursive: true, force: true }),
  )
  const servers: (string | null)[] = [null]
  const missing: string[] = []
  const obstacle = whyNoPostgres()
  if (obstacle !== null) missing.push(obstacle)
  else servers.push(ending.adopt(await startPostgres(), (own) => own.stop()).url)

  const lines = headOf({
    heading: 'Cost at a million files',
    program: 'scale',
    rounds: times,
    peers: [],
    missing,
  })
  for (const server of servers) {
    const name = server === null ? 'SQLite' : 'PostgreSQL'
    const columns = `| 10,000, ms | ${large.toLocaleString('en-US')}, ms | p95 | ratio | |`
    lines.push(`## ${name}`, '', `| ${columns}`, '|---|---:|---:|---:|---:|---|')
    const small = await scaleHost(folder, server, 10_000)
    const host = await scaleHost(folder, server, large)
    const [one, other] = [await serve(folder, small, ending), await serve(folder, host, ending)]
    for (const question of questions().filter(({ title }) => isWanted(title, only))) {
      const took: [number[], number[]] = [[], []]
      for (let round = -WARM_UP; round < times; round++) {
        const both = [
          await one.ask(question, round + WARM_UP),
          await other.ask(question, round + WARM_UP),
        ] as const
        if (round < 0) continue
        took[0].push(both[0])
        took[1].push(both[1])
      }
      lines.push(rowOf(question, took))
      console.error(lines.at(-1))
    }
    if (isWanted('delete', only)) lines.push('', await deletion(other, host))
    lines.push('')
    await one.stop()
    await other.stop()
  }
  const section = `${lines.join('\n').trimEnd()}\n`
  console.log(section)
  if (!quick && only.length === 0) writeSection(section)
}

function isWanted(title: string, only: readonly string[]): boolean {
  return only.length === 0 || only.some((part) => title.includes(part))
}

/** Makes a host in the folder, on SQLite or in a new database of the server. */
export async function scaleHost(folder: string, server: string | null, files: number): Promise<ScaleHost> {
  const name = `${server === null ? 'sqlite' : 'postgresql'}_${files}`
  console.error(`making ${files} files in ${name}`)
  const dataDir = join(folder, name)
  mkdirSync(dataDir, { recursive: true })
  const settings: Record<string, string> = {
    HOLDFAST_DATA_DIR: dataDir,
    HOLDFAST_STORAGE_LIMIT: '1000TB',
    HOLDFAST_INACTIVE_DAYS: '36500',
    // There are no bytes behind the rows.
    HOLDFAST_SCRUB_DAYS: '0',
  }
  if (server !== null) {
    const client = new Client({ connectionString: server })
    await client.connect()
    await client.query(`create database ${name}`)
    await client.end()
    const url = new URL(server)
    url.pathname = `/${name}`
    settings.HOLDFAST_DATABASE_URL = url.href
  }
  const parts = { config: loadConfig(settings), clock: systemClock, random: systemRandom }
  const administration = await openAdministration(parts, { mayBegin: true })
  const { id: account, apiKey: key } = await administration.accounts.add('scale')
  await administration.close()
  const { db, close } = await openDatabase({ ...parts, report() {} })
  const top = await topFolder(db, account)
  const { last } = await db
    .selectFrom('folders')
    .select((row) => row.fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  await close()
  const place = { account, top, firstFolder: Number(last) + 1 }
  const rows = rowsOf(files, place, systemClock.now())
  const { HOLDFAST_DATABASE_URL: url } = settings
  if (url === undefined) loadSqlite(join(dataDir, 'holdfast.sqlite'), place, rows)
  else await loadPostgres(url, place, rows)
  return { settings, key, facts: rows.facts() }
}

/** A request to a host with many files. */
interface Question {
  readonly title: string
  /** `ratio`: at most twice what it takes at 10,000 files; `hard`: at most `HARD` milliseconds. */
  readonly goal: 'ratio' | 'hard'
  readonly requests: (facts: Facts) => readonly Request[]
  /** How many the total of the answer counts. */
  readonly total?: (facts: Facts) => number
}

interface Request {
  readonly path: string
  /** Sent as JSON by POST. */
  readonly body?: object
}

const files = (query: Record<string, string>): Request => ({
  path: `/api/v1/files?${new URLSearchParams({ per_page: '100', ...query })}`,
})

function questions(): Question[] {
  const lists = ['created_at', 'name', 'size', 'downloads'].flatMap((sort) =>
    ['1', '100'].map(
      (page): Question => ({
        title: `list, page ${page}, by ${sort}`,
        goal: 'ratio',
        requests: () => [files({ page, sort })],
      }),
    ),
  )
  const move = (
    path: string,
    what: string,
    into: string,
    ids: readonly string[],
    there: string,
    back: string,
  ) => ids.flatMap((id) => [there, back].map((to) => ({ path, body: { [what]: id, [into]: to } })))
  return [
    ...lists,
    {
      title: 'file detail, by slug, id and UUID',
      goal: 'ratio',
      requests: (facts) =>
        facts.files.map(({ slug, id, uuid }, at) => ({
          path: `/api/v1/file/${[slug, String(id), uuid][at % 3] ?? slug}`,
        })),
    },
    {
      title: 'files of a folder',
      goal: 'ratio',
      requests: (facts) => facts.leaves.map((folder) => ({ path: `/api/v1/folder/${folder}/files` })),
    },
    {
      title: 'files of a folder of 2,500, by size',
      goal: 'ratio',
      requests: (facts) => [files({ folder: facts.heap, page: '20', sort: 'size' })],
    },
    {
      title: 'folders in a folder',
      goal: 'ratio',
      requests: (facts) => facts.parents.map((folder) => ({ path: `/api/v1/folder/${folder}/folders` })),
    },
    ...[RARE.word, RARE.three, RARE.script].map(
      (needle): Question => ({
        title: `search "${needle}", in 3 names`,
        goal: 'ratio',
        requests: () => [files({ search: needle })],
        total: () => 3,
      }),
    ),
    {
      title: 'search "quarzwerk", in no name',
      goal: 'ratio',
      requests: () => [files({ search: 'quarzwerk' })],
      total: () => 0,
    },
    {
      title: 'move a file',
      goal: 'ratio',
      requests: ({ files: some, outside, heap }) =>
        move(
          '/api/v1/file/move',
          'file',
          'folder',
          some.slice(0, 40).map(({ slug }) => slug),
          outside,
          heap,
        ),
    },
    {
      title: 'move the largest branch of the tree',
      goal: 'ratio',
      requests: ({ branch, outside }) =>
        move('/api/v1/folder/move', 'folder', 'parent', [branch.folder], outside, branch.parent),
    },
    ...NEEDLES.filter((needle) => ![RARE.word, RARE.three, RARE.script].some((rare) => rare === needle)).map(
      (needle): Question => ({
        title: `search "${needle}"`,
        goal: 'hard',
        requests: () => [files({ search: needle, totals: 'bounded' })],
        total: (facts) => Math.min(facts.hits[needle] ?? 0, COUNTED),
      }),
    ),
    {
      title: 'search "telefax", the smallest first',
      goal: 'hard',
      requests: () => [files({ search: 'telefax', totals: 'bounded', sort: 'size', order: 'asc' })],
    },
    {
      title: 'search the whole name of a photo',
      goal: 'hard',
      requests: (facts) => [files({ search: facts.photo })],
      total: () => 1,
    },
  ]
}

interface Served {
  /** Milliseconds until the whole answer. Throws unless it succeeds and counts right. */
  ask(question: Question, round: number): Promise<number>
  post(path: string, body: object): Promise<number>
  readonly server: Holdfast
  stop(): Promise<void>
}

async function serve(folder: string, host: ScaleHost, ending: AsyncDisposableStack): Promise<Served> {
  const server = await startHoldfast(join(folder, 'served', Bun.randomUUIDv7()), { settings: host.settings })
  let stopped: Promise<void> | null = null
  const stop = () => (stopped ??= server.stop())
  ending.defer(stop)
  async function send({ path, body }: Request): Promise<{ milliseconds: number; text: string }> {
    const sent =
      body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
    const headers = { Authorization: `Bearer ${host.key}`, ...sent.headers }
    const start = performance.now()
    const answer = await fetch(server.url + path, { ...sent, headers })
    const text = await answer.text()
    const milliseconds = performance.now() - start
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 500)}`)
    return { milliseconds, text }
  }
  return {
    server,
    stop,
    async ask({ title, requests, total }, round) {
      const all = requests(host.facts)
      const request = all[round % all.length]
      if (request === undefined) throw new Error(`there is nothing to ask for "${title}"`)
      const { milliseconds, text } = await send(request)
      if (total === undefined) return milliseconds
      const said: { pagination: { total: number } } = JSON.parse(text)
      if (said.pagination.total === total(host.facts)) return milliseconds
      throw new Error(`${title}: ${said.pagination.total} found instead of ${total(host.facts)}`)
    },
    post: async (path, body) => (await send({ path, body })).milliseconds,
  }
}

function rowOf({ title, goal }: Question, [small, large]: readonly [number[], number[]]): string {
  const [few, many] = [median(small), median(large)]
  // A difference below a millisecond is not growth.
  const reached = goal === 'hard' ? many <= HARD : many <= 2 * few || many - few < 1
  const wanted = goal === 'hard' ? `at most ${HARD} ms` : 'at most twice'
  const cells = [few, many, quantile(large, 0.95)].map((value) => value.toFixed(2))
  return `| ${title} | ${cells.join(' | ')} | ${(many / few).toFixed(2)} | ${wanted}: ${reached ? 'reached' : '**missed**'} |`
}

/** Deletes the tree, and asks `/health` every 20 ms while what was in it is marked, for a minute at most. */
async function deletion({ server, post }: Served, { facts }: ScaleHost): Promise<string> {
  const answered = await post('/api/v1/folder/delete', { identifiers: [facts.tree] })
  const late: number[] = []
  const asked: Promise<void>[] = []
  for (const end = performance.now() + 60_000; performance.now() < end; await Bun.sleep(20)) {
    const due = performance.now()
    asked.push(
      fetch(`${server.url}/health`).then((answer) => {
        if (!answer.ok) throw new Error(`/health: ${answer.status}`)
        late.push(performance.now() - due)
      }),
    )
  }
  await Promise.all(asked)
  const figures = [median(late), quantile(late, 0.99), Math.max(...late)].map((value) => value.toFixed(1))
  return `The tree is deleted: answered in ${answered.toFixed(0)} ms; \`/health\` in the minute after it, median / p99 / longest: ${figures.join(' / ')} ms.`
}

/** By nearest rank. NaN without values. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN
}
