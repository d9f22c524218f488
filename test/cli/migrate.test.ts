import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/child.ts'
import { holdfast } from './command.ts'

describe('holdfast migrate', () => {
  test('--check says that an empty folder has no database yet, with 1, and makes none', async () => {
    using folder = temporaryFolder()
    const { code, errors } = await holdfast(folder.path, ['migrate', '--check'])
    expect(code).toBe(1)
    expect(errors).toContain('holdfast migrate')
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('makes the database, after which --check is content', async () => {
    using folder = temporaryFolder()
    const made = await holdfast(folder.path, ['migrate'])
    expect({ code: made.code, errors: made.errors }).toEqual({ code: 0, errors: '' })
    const checked = await holdfast(folder.path, ['migrate', '--check'])
    expect({ code: checked.code, errors: checked.errors }).toEqual({ code: 0, errors: '' })
    expect(checked.output).toContain('up to date')
  })

  test.each([[['migrate', '--check']], [['migrate']], [['serve']], [['account', 'list']]])(
    '%j refuses a database that is newer than the program and says what to do',
    async (words) => {
      using folder = temporaryFolder()
      await holdfast(folder.path, ['migrate'])
      const file = new Database(join(folder.path, 'data/holdfast.sqlite'))
      file.run("update meta set value = '999' where key = 'version'")
      file.close()
      const { code, errors } = await holdfast(folder.path, words)
      expect(code).toBe(1)
      expect(errors).toContain('install a newer Holdfast')
      expect(errors).not.toMatch(/^\s+at /m)
    },
  )
})
