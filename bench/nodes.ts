/**
 * `npm run bench -- nodes`: compares one node and three nodes on PostgreSQL and S3 with SQLite and a folder;
 * writes its section of bench/results.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { recordRun } from './history.ts'
import { describeMachine, freeDiskSpace } from './machine.ts'
import { GIB, MIB, measureAll } from './measure.ts'
import { nodesReport, REFERENCE } from './nodes/nodes-report.ts'
import { type NodesWay, nodesScenarios } from './nodes/nodes-scenarios.ts'
import { startNodes, whyNoNodes } from './nodes/nodes-servers.ts'
import { uploadListed, uploadSource } from './preparation.ts'
import { findWrk } from './requests.ts'
import { writeResults } from './results-page.ts'
import { type MeasuredHoldfast, startMeasuredHoldfast } from './servers.ts'

const USAGE = `npm run bench -- nodes [options]
  --quick       256 MiB, 200 small files and 1 round instead of 1 GiB, 1000 and 5; writes to the terminal only
  --rounds N    how many rounds`

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const rounds = Number(values.rounds ?? (values.quick ? 1 : 5))
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error(`--rounds must be a whole number from 1\n${USAGE}`)
  process.exit(2)
}
const amounts = values.quick
  ? { bigSize: 256 * MIB, smallCount: 200, rangeCount: 200, listedCount: 1000, seconds: 2 }
  : { bigSize: GIB, smallCount: 1000, rangeCount: 1000, listedCount: 10_000, seconds: 5 }
const obstacle = whyNoNodes() ?? (findWrk() === null ? 'wrk is not installed: `apt-get install wrk`' : null)
if (obstacle !== null) {
  console.error(obstacle)
  process.exit(1)
}
const [load = Number.NaN] = loadavg()

await using ending = new AsyncDisposableStack()
const folder = ending.adopt(mkdtempSync(join(tmpdir(), 'holdfast-bench-')), (made) =>
  rmSync(made, { recursive: true, force: true }),
)
const { bigSize, smallCount, listedCount } = amounts
// Three setups; uploads are kept until the end.
const needed = 3 * (rounds * (bigSize + 2 * smallCount * 100 * 1024) + 2 * bigSize) + 3 * GIB
if (freeDiskSpace(folder) < needed) {
  throw new Error(
    `${Math.ceil(needed / GIB)} GiB must be free in the folder for temporary files; TMPDIR names another`,
  )
}

const alone = ending.adopt(await startMeasuredHoldfast(join(folder, 'alone')), (server) => server.stop())
const nodes = await startNodes(folder, ending)
const onFolder = await filled(alone)
const onServers = await filled(nodes.one)
const ways: NodesWay[] = [
  { name: REFERENCE, server: alone, ...onFolder },
  { name: 'one node', server: nodes.one, ...onServers },
  { name: 'three nodes', server: nodes.all, ...onServers },
]
const measured = await measureAll(nodesScenarios(ways, amounts), rounds, folder, (line) =>
  console.error(line),
)
const machine = describeMachine(folder)
const page = nodesReport({
  date: new Date().toISOString().slice(0, 10),
  machine,
  parts: nodes.parts,
  load,
  rounds,
  bigSize,
  measured,
})
console.log(page)
if (!values.quick) {
  writeResults(page)
  recordRun({ bench: 'bench:nodes', machine, rounds, measured })
  console.error('written to bench/results.md and bench/history.jsonl')
}

async function filled(holdfast: MeasuredHoldfast): Promise<Pick<NodesWay, 'key' | 'slug' | 'listed'>> {
  const key = await holdfast.addAccount('bench')
  const slug = await uploadSource(holdfast, key, bigSize)
  return { key, slug, listed: await uploadListed(holdfast, listedCount) }
}
