/**
 * `npm run bench -- store`: what a node pays for its S3 store: CPU time and requests to the store for each operation, for
 * this tree and, beside it in the same run, for another one. Writes to the terminal only.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { cephEndpoint, whyNoCeph } from '../test/support/storage/ceph.ts'
import { median } from './measure.ts'
import { STORE_WORK, type StoreCost, type StoreNode, startStoreNode } from './nodes/store-work.ts'

const USAGE = `npm run bench -- store [options]
  --against DIR   measures the working tree in DIR too, in turn with this one; it needs its node_modules
  --rounds N      how many rounds; 3 unless told
  --only A,B      some of ${STORE_WORK.map(({ name }) => name).join(', ')}
  --profile DIR   writes CPU profiles there; the figures are higher then`

const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const rounds = Number(values.rounds)
const only = values.only?.split(',') ?? STORE_WORK.map(({ name }) => name)
const unknown = only.filter((wanted) => !STORE_WORK.some(({ name }) => name === wanted))
if (!Number.isInteger(rounds) || rounds < 1 || unknown.length > 0) {
  console.error(`--rounds must be a whole number from 1, and --only names of work\n${USAGE}`)
  process.exit(2)
}
const obstacle = whyNoCeph()
if (obstacle !== null) {
  console.error(obstacle)
  process.exit(1)
}

await using ending = new AsyncDisposableStack()
const folder = ending.adopt(mkdtempSync(join(tmpdir(), 'holdfast-bench-')), (made) =>
  rmSync(made, { recursive: true, force: true }),
)
const endpoint = await cephEndpoint()
const trees = [undefined, ...(values.against === undefined ? [] : [resolve(values.against)])]
const work = STORE_WORK.filter(({ name }) => only.includes(name))
const passing = await startNodes(false)
const redirecting = await startNodes(true)
const samples = new Map<string, StoreCost[]>()
for (let round = 0; round < rounds; round++) {
  for (const { name, run, redirects } of work) {
    const nodes = redirects ? redirecting : passing
    for (let turn = 0; turn < nodes.length; turn++) {
      const node = nodes[(turn + round) % nodes.length]
      if (node === undefined) continue
      const id = `${name} ${node.tree}`
      samples.set(id, [...(samples.get(id) ?? []), await run(node, round)])
    }
  }
}
for (const { name, title, redirects } of work) {
  console.log(`\n${title}`)
  for (const { tree } of redirects ? redirecting : passing)
    console.log(line(tree, samples.get(`${name} ${tree}`) ?? []))
}

/** A node of each tree, or none when nothing is measured with them. */
async function startNodes(redirects: boolean): Promise<StoreNode[]> {
  const nodes: StoreNode[] = []
  if (!work.some((item) => (item.redirects ?? false) === redirects)) return nodes
  for (const [at, tree] of trees.entries()) {
    const name = `${redirects ? 'redirecting' : 'passing'}-${at}`
    const started = startStoreNode(join(folder, name), { endpoint, tree, profile: values.profile, redirects })
    nodes.push(ending.adopt(await started, (node) => node.stop()))
  }
  return nodes
}

function line(tree: string, costs: readonly StoreCost[]): string {
  const cpu = costs.map(({ milliseconds }) => milliseconds)
  const rate = median(costs.map((cost) => cost.rate))
  const requests = costs.at(-1)?.requests ?? {}
  const said = Object.entries(requests).map(([method, count]) => `${method} ${count.toFixed(2)}`)
  return [
    `  ${tree}`,
    `${median(cpu).toFixed(2)} ms CPU (${Math.min(...cpu).toFixed(2)}–${Math.max(...cpu).toFixed(2)})`,
    `${rate.toFixed(0)}/s`,
    `requests to the store: ${said.join(', ') || 'none'}`,
  ].join('  ')
}
