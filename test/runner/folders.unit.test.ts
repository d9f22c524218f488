/** How many files a folder holds: a reader takes in a list of forty names, and no more. */
import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'

const REPOSITORY = join(import.meta.dir, '../..')
const MOST_FILES = 40
const BUILT = /^web\/dist\//

/** Folders with more files than that, those of folders within them aside. */
function fullFolders(files: readonly string[]): string[] {
  const byFolder = Map.groupBy(files, (file) => dirname(file))
  return [...byFolder]
    .filter(([, inside]) => inside.length > MOST_FILES)
    .map(([folder, inside]) => `${folder}: ${inside.length}`)
}

function filesOf(top: string): string[] {
  const files = [...new Bun.Glob(`${top}/**/*`).scanSync({ cwd: REPOSITORY, dot: true })]
  return files.filter((file) => !BUILT.test(file))
}

test.each(['src', 'web', 'test', 'bench'])('no folder in %s holds more than forty files', (top) => {
  const files = filesOf(top)
  expect(files.length).toBeGreaterThan(MOST_FILES)
  expect(fullFolders(files)).toEqual([])
})

test('forty files in a folder are allowed, and those of its folders do not count', () => {
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${folder}/${at}.ts`)
  expect(fullFolders([...files('src/a', 40), ...files('src/a/b', 40), ...files('src/c', 41)])).toEqual([
    'src/c: 41',
  ])
})
