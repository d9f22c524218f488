/** Whether the list of changes still fits the product: the changes themselves are tried by `npx bun test/mutate/run.ts`. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { changed, titleOf } from './change.ts'
import { changes } from './changes.ts'

const REPOSITORY = join(import.meta.dir, '../..')
const compilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }

/** What is wrong with an entry of the list, or null. */
function problem(change: (typeof changes)[number]): string | null {
  const path = join(REPOSITORY, change.file)
  if (!existsSync(path)) return `there is no ${change.file}`
  const missing = change.tests.filter((file) => !existsSync(join(REPOSITORY, file)))
  if (missing.length > 0) return `there is no ${missing.join(', ')}`
  const compiler = compilers[path.endsWith('.tsx') ? 'tsx' : 'ts']
  try {
    const text = readFileSync(path, 'utf8')
    const [before, after] = [text, changed(text, change)].map((each) => compiler.transformSync(each))
    return before === after ? `changes nothing: ${titleOf(change)}` : null
  } catch (error) {
    return `${titleOf(change)}: ${error instanceof Error ? error.message : error}`
  }
}

test('every change of the list has one place in its file, its tests, and compiles', () => {
  expect(changes.map(problem).filter((each) => each !== null)).toEqual([])
})

test('no change is listed twice', () => {
  const titles = changes.map(({ file, find, replace }) => JSON.stringify([file, find, replace]))
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([])
})
