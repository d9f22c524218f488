/** `npm run bench`: measures Holdfast and its peers, and writes bench/results.md. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { devDependencies as packages } from '../package.json'
import { archiveScenario } from './archives.ts'
import { commandLineScenarios, findCurl } from './command-line.ts'
import { content } from './content.ts'
import { downloadScenarios } from './downloads.ts'
import { recordRun } from './history.ts'
import { describeMachine, freeDiskSpace } from './machine.ts'
import { GIB, MIB, measureAll, type Scenario } from './measure.ts'
import { uploadListed, uploadSource } from './preparation.ts'
import { report } from './report.ts'
import { detailPath, findWrk, pagePath, requestScenarios } from './requests.ts'
import { writeResults } from './results-page.ts'
import { resumableScenarios, TUS_ON_BUN, TUS_SERVER } from './resumable.ts'
import {
  findNode,
  type MeasuredHoldfast,
  type MeasuredServer,
  type Nginx,
  startBare,
  startBareBytes,
  startMeasuredHoldfast,
  startNginx,
  startTusPeer,
} from './servers.ts'
import { uploadScenarios } from './uploads.ts'

const REPOSITORY = join(import.meta.dir, '..')
const EVERYTHING = ['uploads', 'resumable', 'downloads', 'archive', 'requests', 'client']
const USAGE = `npm run bench -- [options]
  --quick          256 MiB and 2 rounds instead of 1 GiB and 5; writes to the terminal only
  --rounds N       how many rounds
  --only A,B       any of uploads, resumable, downloads, archive, requests, client; writes to the terminal only
  --profile DIR    also write CPU profiles of Holdfast there when it stops; it runs slower then`

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', default: EVERYTHING.join(',') },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const only = values.only.split(',')
const whole = !values.quick && EVERYTHING.every((part) => only.includes(part)) && values.profile === undefined
const rounds = Number(values.rounds ?? (values.quick ? 2 : 5))
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error(`--rounds must be a whole number from 1\n${USAGE}`)
  process.exit(2)
}
const bigSize = values.quick ? 256 * MIB : GIB
const counts = values.quick
  ? { small: 200, ranges: 200, archived: 1000, seconds: 2 }
  : { small: 1000, ranges: 1000, archived: 10_000, seconds: 5 }
/** Files in the listed account: many, so that a page has to be found among them. */
const FILES = 10_000

mkdirSync(join(REPOSITORY, 'data'), { recursive: true })
const folder = mkdtempSync(join(REPOSITORY, 'data', 'bench-'))
const servers: MeasuredServer[] = []
try {
  await bench()
} finally {
  for (const server of servers) await server.stop()
  rmSync(folder, { recursive: true })
}

async function bench(): Promise<void> {
  // Uploads to Holdfast are kept until the end, so that their deletion does not affect other measurements.
  const needed =
    (9 * rounds + 9) * bigSize + (rounds * 4 * counts.small + 2 * counts.archived) * 100 * 1024 + 3 * GIB
  if (freeDiskSpace(folder) < needed) {
    throw new Error(`${Math.ceil(needed / GIB)} GiB must be free on the disk under ${relative('.', folder)}`)
  }
  const holdfast = await startMeasuredHoldfast(join(folder, 'holdfast'), { profile: values.profile })
  servers.push(holdfast)
  const nginx = await startNginx(join(folder, 'nginx'))
  if (nginx !== null) servers.push(nginx)
  const missing: string[] = []
  if (nginx === null) missing.push('nginx with its dav module is not installed: `apt-get install nginx`')

  const files = nginx?.folder ?? join(folder, 'files')
  mkdirSync(files, { recursive: true })
  const bare = await startBareBytes(files)
  servers.push(bare)

  const key = await holdfast.addAccount('bench')
  const source = join(files, 'source.bin')
  await writeSource(source)
  const slug = await uploadSource(holdfast, key, bigSize)

  const scenarios: Scenario[] = []
  if (only.includes('uploads')) {
    const parts = { holdfast, key, nginx, bare, source, scratch: folder, bigSize, smallCount: counts.small }
    scenarios.push(...uploadScenarios(parts))
  }
  const node = findNode()
  if (only.includes('resumable')) {
    const peers = new Map([[TUS_ON_BUN, await startTusPeer(join(folder, 'tus-bun'), process.execPath)]])
    if (node === null) missing.push('@tus/server on Node.js, because that is not installed')
    else peers.set(TUS_SERVER, await startTusPeer(join(folder, 'tus-node'), node.program))
    servers.push(...peers.values())
    scenarios.push(...resumableScenarios({ holdfast, key, peers, bigSize }))
  }
  if (only.includes('downloads')) {
    const verifying = await startVerifying()
    const big = { slug, verifying, name: 'source.bin', size: bigSize }
    scenarios.push(...downloadScenarios({ holdfast, nginx, bare, ...big, rangeCount: counts.ranges }))
  }
  if (only.includes('archive')) {
    scenarios.push(await archiveScenario({ holdfast, key, count: counts.archived, scratch: folder }))
  }
  if (only.includes('requests')) {
    if (findWrk() === null)
      missing.push('requests a second, because wrk is not installed: `apt-get install wrk`')
    else scenarios.push(...(await requests(holdfast)))
  }
  const curl = findCurl()
  if (only.includes('client') && curl === null) {
    missing.push('the command line, because curl is not installed: `apt-get install curl`')
  } else if (only.includes('client') && curl !== null) {
    const parts = { holdfast, key, scratch: join(folder, 'client'), bigSize, smallCount: counts.small }
    scenarios.push(...commandLineScenarios(parts, curl))
  }
  for (const line of missing) console.error(`not measured: ${line}`)

  const measured = await measureAll(scenarios, rounds, folder, (line) => console.error(line))
  const machine = describeMachine(folder)
  const page = report({
    date: new Date().toISOString().slice(0, 10),
    machine,
    peers: peers(nginx, only.includes('resumable') ? node : null),
    rounds,
    bigMib: bigSize / MIB,
    missing,
    measured,
  })
  console.log(page)
  if (!whole) return
  writeResults(page)
  recordRun({ bench: 'bench', machine, rounds, measured })
  console.error('written to bench/results.md and bench/history.jsonl')
}

/** A Holdfast that verifies what it sends, with a big file. */
async function startVerifying() {
  const settings = { HOLDFAST_VERIFY_READS: 'true' }
  const holdfast = await startMeasuredHoldfast(join(folder, 'verifying'), { settings })
  servers.push(holdfast)
  return { holdfast, slug: await uploadSource(holdfast, await holdfast.addAccount('bench'), bigSize) }
}

/** Writes the file that nginx serves and dd copies. */
async function writeSource(source: string): Promise<void> {
  const writer = Bun.file(source).writer()
  for (const piece of content(bigSize, 0)) {
    writer.write(piece)
    await writer.flush()
  }
  await writer.end()
}

/** Prepares an account with files, and the minimal server that returns Holdfast's answers about them. */
async function requests(holdfast: MeasuredHoldfast): Promise<Scenario[]> {
  const { key, slug } = await uploadListed(holdfast, FILES)
  const headers = { Authorization: `Bearer ${key}` }
  const [detail, listing] = await Promise.all(
    [detailPath(slug), pagePath(1)].map(async (path) => {
      const answer = await fetch(holdfast.url + path, { headers })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    }),
  )
  const bare = await startBare(detail, listing)
  servers.push(bare)
  return requestScenarios({ holdfast, key, slug, fileCount: FILES, bare, seconds: counts.seconds })
}

function peers(nginx: Nginx | null, node: ReturnType<typeof findNode>): string[] {
  return [
    ...(nginx === null
      ? []
      : [`peers: nginx ${nginx.version} from Debian, dd of coreutils, Bun.serve alone`]),
    ...(node === null
      ? []
      : [
          `@tus/server ${packages['@tus/server']} with @tus/file-store ${packages['@tus/file-store']}, on Node.js ${node.version} and on Bun`,
        ]),
  ]
}
