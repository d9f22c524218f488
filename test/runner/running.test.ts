/** What the runner of the tests makes of files that hang, and of machines on which a program is missing. */
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/processes/child.ts'
import { runFiles } from './file-run.ts'
import { batchesOf, isShort, isUsual, type Task, tasksOf, testFiles } from './plan.ts'
import { runQueue } from './queue.ts'
import { linesOf } from './report.ts'

const usual = { options: [], variables: {}, limit: 60_000, signal: new AbortController().signal }
/** Folders of several tiers are about the same capability. */
const TIER = /^test\/(unit|server|cluster)\//
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
  const { lines } = linesOf({
    runs: [
      [batch, run],
      [batch, run],
    ],
    missing: [],
    ranTooLong: false,
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

test('npm test is a part of the whole, and has something of every capability', () => {
  const every = tasksOf(testFiles())
  expect(every.filter((task) => isShort(task) && !isUsual(task))).toEqual([])
  const capabilities = (tasks: readonly Task[]) =>
    [...new Set(tasks.map(({ file }) => dirname(file).replace(TIER, '')))].sort()
  expect(capabilities(every.filter(isShort))).toEqual(capabilities(every))
})

test('short files of a tier share a process, and those that watch theirs have their own', () => {
  const tasks = [
    { pair: 'folder', file: 'test/unit/domain/sizes.test.ts' },
    { pair: 'folder', file: 'test/server/server/long-work.test.ts' },
    { pair: 'folder', file: 'test/unit/domain/random.test.ts' },
    { pair: 'folder', file: 'test/server/deploy/caddy.test.ts' },
    { pair: 'cluster', file: 'test/cluster/files/patch.test.ts' },
    { pair: 'folder', file: 'test/cluster/files/patch.test.ts' },
  ] as const
  const names = (isShared: boolean) =>
    batchesOf(tasks, { isShared })
      .map(({ pair, files }) => [pair, ...files.map((file) => basename(file, '.test.ts'))].join(' '))
      .sort()
  const apart = ['cluster patch', 'folder caddy', 'folder long-work', 'folder patch']
  expect(names(true)).toEqual([...apart, 'folder sizes random'])
  expect(names(false)).toEqual([...apart, 'folder random', 'folder sizes'])
})
