import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf } from '../../../src/program/version.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

const git = (folder: string, ...words: string[]) =>
  Bun.spawnSync(['git', '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...words], { cwd: folder })

test('a clone has the commit that is checked out, and what lies below it has none', () => {
  using folder = temporaryFolder()
  expect(commitOf(folder.path)).toBe('')
  git(folder.path, 'init', '--quiet')
  expect(commitOf(folder.path)).toBe('')
  git(folder.path, 'commit', '--quiet', '--allow-empty', '--message', 'first')
  expect(commitOf(folder.path)).toMatch(/^[0-9a-f]{12}$/)
  const below = join(folder.path, 'node_modules/holdfast')
  mkdirSync(below, { recursive: true })
  expect(commitOf(below)).toBe('')
})
