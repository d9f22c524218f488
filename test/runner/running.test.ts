/** What the runner of the tests makes of files that hang, and of machines on which a program is missing. */
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/child.ts'
import { runFile } from '../support/file-run.ts'
import { runLanes } from '../support/queue.ts'

const usual = { options: [], variables: {}, limit: 60_000, signal: new AbortController().signal }
/** Runs Python and nothing else. */
const NEEDS_PYTHON = 'test/web/zip-directory.test.ts'

test('a file that hangs is killed at its limit, and said with the last test that ended', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'hanging.test.ts')
  const body = "test('ends', () => {})\ntest('blocks its thread', () => { for (;;); })"
  writeFileSync(file, `import { test } from 'bun:test'\n${body}\n`)
  const run = await runFile({ ...usual, file, limit: 2000 })
  expect(run.failed).toBe(1)
  expect(run.failures.join('\n')).toContain(`${file}: killed after 2 s`)
  expect(run.failures.join('\n')).toContain('(pass) ends')
})

test('a file that ends without a result has failed', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'leaving.test.ts')
  writeFileSync(file, "import { test } from 'bun:test'\ntest('leaves', () => process.exit(0))\n")
  expect(await runFile({ ...usual, file })).toMatchObject({ passed: 0, failed: 1 })
})

test.each([
  ['is said not to have run', '', 0],
  ['counts as failed with CI=true', 'true', 1],
] as const)('what runs a program that is not installed %s', async (_, CI, failed) => {
  using folder = temporaryFolder()
  const nothing = join(folder.path, 'bin')
  mkdirSync(nothing)
  const run = await runFile({ ...usual, file: NEEDS_PYTHON, variables: { PATH: nothing, CI } })
  expect(run).toMatchObject({ passed: 0, failed })
  expect(run.skipped).toBeGreaterThan(5)
  expect(run.output).toContain('python3 is not installed: `apt-get install python3`')
})

test('so many tasks of a lane run at once, beside those of the others, and what runs is known', async () => {
  const most = { a: 0, b: 0 }
  const { running, done } = runLanes(
    [
      { tasks: ['a1', 'a2', 'a3', 'a4'], atOnce: 2 },
      { tasks: ['b1', 'b2'], atOnce: 1 },
    ],
    async () => {
      await Bun.sleep(1)
      for (const lane of ['a', 'b'] as const) {
        most[lane] = Math.max(most[lane], [...running].filter((task) => task.startsWith(lane)).length)
      }
    },
  )
  expect([...running]).toEqual(['a1', 'a2', 'b1'])
  await done
  expect([most, running.size]).toEqual([{ a: 2, b: 1 }, 0])
})
