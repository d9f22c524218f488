/** What the runner of the tests makes of files that hang, and of machines on which a program is missing. */
import { describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { batchesOf } from './batches.ts'
import { runFiles } from './file-run.ts'
import { runQueue } from './queue.ts'
import { budgetOf, nameOf, recordedSeconds } from './recorded-seconds.ts'
import { reportOf } from './run-report.ts'
import { isShort, isUsual, type Task, tasksOf, testFiles } from './tiers.ts'

const usual = { options: [], variables: {}, limit: 60_000, signal: new AbortController().signal }
/** Folders of several tiers are about the same capability. */
const TIER = /^test\/(unit|server|cluster)\//
const FIVE_MINUTES = 300
/** The share of two processors that files can use; the rest goes to the servers that they share, and to the ends of the run. */
const USABLE = 0.8
/** As most files take. */
const UNRECORDED = { seconds: 2, processorSeconds: 2 }
/** Runs Python and nothing else. */
const NEEDS_PYTHON = 'test/unit/web/zip-directory.test.ts'

test('a file that hangs is killed at its limit, and said with the last test that ended', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'hanging.test.ts')
  const body = "test('ends', () => {})\ntest('blocks its thread', () => { for (;;); })"
  writeFileSync(file, `import { test } from 'bun:test'\n${body}\n`)
  const run = await runFiles({ ...usual, files: [file], limit: 2000 })
  expect(run.failed).toBe(1)
  expect(run.failures.join('\n')).toContain(`${file}: killed after 2 s`)
  expect(run.failures.join('\n')).toContain('(pass) ends')
})

test('the rows of a table are one test of several results', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'rows.test.ts')
  const body = "test.each([1, 2, 3])('%d', () => {})\ntest('another', () => {})"
  writeFileSync(file, `import { test } from 'bun:test'\n${body}\n`)
  const { passed, places } = await runFiles({ ...usual, files: [file] })
  expect([passed, places.size]).toEqual([4, 2])
})

test('a file that ends without a result has failed', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'leaving.test.ts')
  writeFileSync(file, "import { test } from 'bun:test'\ntest('leaves', () => process.exit(0))\n")
  expect(await runFiles({ ...usual, files: [file] })).toMatchObject({ passed: 0, failed: 1 })
})

test.each([
  ['is said not to have run', '', 0],
  ['counts as failed with CI=true', 'true', 1],
] as const)('what runs a program that is not installed %s', async (_, CI, failed) => {
  using folder = temporaryFolder()
  const nothing = join(folder.path, 'bin')
  mkdirSync(nothing)
  const run = await runFiles({ ...usual, files: [NEEDS_PYTHON], variables: { PATH: nothing, CI } })
  expect(run).toMatchObject({ passed: 0, failed })
  expect(run.skipped).toBeGreaterThan(5)
  expect(run.notRun.length).toBeGreaterThan(0)
  for (const told of run.notRun) {
    expect(told).toEndWith('python3 is not installed: `apt-get install python3`')
  }
  const batch = { pair: 'folder', files: [NEEDS_PYTHON], seconds: 1 } as const
  const results = { recorded: new Map(), missing: [], ranTooLong: false, seconds: 1 }
  const { lines } = reportOf({
    ...results,
    runs: [
      [batch, run],
      [batch, run],
    ],
  })
  expect(lines.filter((line) => line.startsWith('did not run: '))).toHaveLength(new Set(run.notRun).size)
})

test('so many tasks run at once, in their order, one more where there is room, and what runs is known', async () => {
  const order: string[] = []
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const questions = { asked: 0 }
  const width = { least: 2, most: 3, hasRoom: () => ++questions.asked > 1 }
  const { running, done } = runQueue(['a', 'b', 'c', 'd', 'e'], { width }, async (task) => {
    order.push(task)
    await go
  })
  expect([...running]).toEqual(['a', 'b'])
  await eventually('there is room', () => running.size === 3)
  await Bun.sleep(0)
  expect([...running]).toEqual(['a', 'b', 'c'])
  resolve()
  await done
  expect([order.join(''), running.size]).toEqual(['abcde', 0])
})

test('what is not ready lets others go first and is asked again', async () => {
  const order: string[] = []
  let isReady = false
  const width = { least: 1, most: 1, hasRoom: () => false }
  const { done } = runQueue(
    ['later', 'now'],
    { width, ready: (task) => isReady || task === 'now' },
    async (task) => {
      order.push(task)
      isReady = true
    },
  )
  await done
  expect(order).toEqual(['now', 'later'])
})

test('work that fails ends the queue with its error', async () => {
  const width = { least: 1, most: 1, hasRoom: () => false }
  const { done } = runQueue(['a'], { width }, () => Promise.reject(new Error('broken')))
  await expect(done).rejects.toThrow('broken')
})

describe('npm test', () => {
  test('takes no more of two processors than five minutes allow, by what was recorded', () => {
    const recorded = recordedSeconds()
    const short = tasksOf(testFiles()).filter(isShort)
    const took = short.map((task) => recorded.get(nameOf(task)) ?? UNRECORDED)
    expect(took.reduce((total, { processorSeconds }) => total + processorSeconds, 0)).toBeLessThan(
      2 * FIVE_MINUTES * USABLE,
    )
    expect(Math.max(...took.map(({ seconds }) => seconds))).toBeLessThan(FIVE_MINUTES / 2)
  })

  test('is a part of the whole, and every folder of tests has something in it', () => {
    const all = testFiles()
    const folders = (tasks: readonly Task[]) =>
      [...new Set(tasks.map(({ file }) => dirname(file).replace(TIER, '')))].sort()
    const every = tasksOf(all)
    expect(every.filter((task) => isShort(task) && !isUsual(task))).toEqual([])
    expect(folders(every.filter(isShort))).toEqual(folders(every))
  })
})

test('a file may take so much more of the processors than was recorded, and without a record anything', () => {
  expect(budgetOf({ seconds: 1, processorSeconds: 10 })).toBe(25)
  expect(budgetOf(undefined)).toBe(Number.POSITIVE_INFINITY)
})

test('short files of a pair share a process, and long or unknown ones have their own', () => {
  const took = (seconds: number) => ({ seconds, processorSeconds: seconds })
  const [a, b, c] = ['deletes', 'files', 'patch'].map((name) => `test/cluster/files/${name}.test.ts`) as [
    string,
    string,
    string,
  ]
  const tasks = [a, b, c].map((file) => ({ pair: 'folder', file }) as const)
  const files = (seconds: readonly number[], isShared = true) => {
    const recorded = new Map(tasks.map((task, at) => [nameOf(task), took(seconds[at] ?? 0)]))
    return batchesOf([...tasks, { pair: 'cluster', file: a }], recorded, { isShared }).map(
      (batch) => batch.files,
    )
  }
  expect(files([1, 3, 2])).toEqual([[a], [b, c, a]])
  expect(files([1, 50, 2])).toEqual([[a], [b], [c, a]])
  expect(files([29, 28, 20])).toEqual([[a], [a, b], [c]])
  expect(files([1, 3, 2], false)).toEqual([[a], [b], [c], [a]])
})
