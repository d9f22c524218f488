/**
 * Tries whether the tests notice changes of the product: `changes.ts` lists them.
 *
 *   bun test/mutate/run.ts [--only <part of a path>] [--width <processes>]
 *
 * One change at a time is made in a copy of the working tree, and its tests are run there. Changes that no test notices are
 * told, and make the run fail unless the list explains them.
 */
import { parseArgs } from 'node:util'
import { type FileRun, runFiles } from '../runner/file-run.ts'
import { type Change, titleOf } from './change.ts'
import { changes } from './changes.ts'
import { type Scratch, scratchCopy } from './scratch.ts'

type Fate = 'caught' | 'survived' | 'explained' | 'not tried'

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, width: { type: 'string', default: '1' } },
})
/** Milliseconds for tests without a change. */
const LIMIT = 120_000
/** A changed product may hang, which counts as noticed: tests get so many times what they took without the change, */
const TIMES = 3
/** and so many milliseconds more. */
const MORE = 15_000
/** Milliseconds for one test. */
const TEST_LIMIT = 30_000

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())

const chosen = changes.filter(({ file }) => file.includes(values.only))
const waiting = chosen.values()
const fates = new Map<Change, Fate>()
/** How the tests go without any change, by what is run. */
const unchanged = new Map<string, Promise<FileRun>>()

await Promise.all(Array.from({ length: Number(values.width) }, work))
process.exit(report())

async function work(): Promise<void> {
  using scratch = scratchCopy()
  for (const change of waiting) {
    if (stopping.signal.aborted) return
    const started = performance.now()
    const fate = await fateOf(change, scratch)
    fates.set(change, fate)
    const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6)
    console.log(`${fate.padEnd(9)} ${seconds} s  ${titleOf(change)}`)
  }
}

async function fateOf(change: Change, scratch: Scratch): Promise<Fate> {
  const before = await runUnchanged(change, scratch)
  if (before.failed > 0 || before.passed === 0) {
    console.log(`${change.tests.join(' ')}: fails without any change, or has no such test\n${before.output}`)
    return 'not tried'
  }
  const limit = before.seconds * 1000 * TIMES + MORE
  const after = await scratch.withChange(change, () => runTests(change, scratch, limit))
  if (stopping.signal.aborted) return 'not tried'
  if (after.failed > 0) return 'caught'
  return change.explained === undefined ? 'survived' : 'explained'
}

function runUnchanged(change: Change, scratch: Scratch): Promise<FileRun> {
  const key = JSON.stringify([change.tests, change.named])
  const known = unchanged.get(key) ?? runTests(change, scratch, LIMIT)
  unchanged.set(key, known)
  return known
}

function runTests({ tests, named }: Change, scratch: Scratch, limit: number): Promise<FileRun> {
  return runFiles({
    files: tests,
    options: ['--bail', '--timeout', String(TEST_LIMIT), ...(named === undefined ? [] : ['-t', named])],
    variables: { HOLDFAST_TEST_PAIR: 'folder', HOLDFAST_TEST_CASES: 'all' },
    limit,
    signal: stopping.signal,
    root: scratch.path,
  })
}

function report(): number {
  const count = (fate: Fate) => [...fates.values()].filter((each) => each === fate).length
  for (const [change, fate] of fates) {
    if (fate === 'survived') console.log(`survived: ${titleOf(change)}`)
    if (fate === 'caught' && change.explained !== undefined) {
      console.log(`is caught and needs no explanation: ${titleOf(change)}`)
    }
  }
  const untried = chosen.length - fates.size + count('not tried')
  if (untried > 0) console.log(`${untried} not tried`)
  const [caught, survived, explained] = (['caught', 'survived', 'explained'] as const).map(count)
  console.log(`${chosen.length} changes, ${caught} caught, ${survived} survived, ${explained} explained`)
  return survived === 0 && untried === 0 && chosen.length > 0 ? 0 : 1
}
