import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { migrate, migrations } from '../../../src/database/migrate.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { serving } from '../../support/cli/command.ts'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { withNextVersion } from '../../support/databases/next-version.ts'
import { OLDEST } from '../../support/databases/old-database.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

const NEXT = join(import.meta.dir, '../../support/cli/next-version.ts')

/** A data folder whose database is of the first version; returns the path of that. */
async function firstVersion(folder: string): Promise<string> {
  mkdirSync(join(folder, 'data'), { recursive: true })
  const path = join(folder, 'data/holdfast.sqlite')
  const db = openSqlite(path)
  await migrate(db, OLDEST)
  await db.destroy()
  return path
}

function versionOf(path: string): unknown {
  const file = new Database(path)
  try {
    return file.query<{ value: unknown }, []>("select value from meta where key = 'version'").get()?.value
  } finally {
    file.close()
  }
}

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

  test.each([['account list'], ['account add ann'], ['admin statistics'], ['key list ann'], ['report list']])(
    'is not what %j does: on an older database it changes nothing and names the command',
    async (words) => {
      using folder = temporaryFolder()
      const path = await firstVersion(folder.path)
      using _ = withNextVersion()
      const { code, errors } = await holdfast(folder.path, words.split(' '))
      expect(code).toBe(1)
      expect(errors).toContain('Run "holdfast migrate"')
      expect(errors).not.toMatch(/^\s+at /m)
      expect(versionOf(path)).toBe('1')
    },
  )

  test('and the start of a server say what they do to an older database', async () => {
    using folder = temporaryFolder()
    const path = await firstVersion(folder.path)
    const { lines } = await serving(
      [process.execPath, '--no-env-file', NEXT],
      folder.path,
      async () => 'SIGTERM',
    )
    const said = lines.map(({ msg }) => msg)
    expect(said.filter((line) => String(line).includes("program's version"))).toEqual([
      "the database is older than this program: bringing it to the program's version",
      "the database is at this program's version",
    ])
    expect(versionOf(path)).toBe(String(migrations.length + 1))
    const other = await firstVersion(join(folder.path, 'other'))
    using _ = withNextVersion()
    const checked = await holdfast(join(folder.path, 'other'), ['migrate', '--check'])
    expect(checked.code).toBe(1)
    expect(checked.errors).toMatch(/lacks 4 migrations; .* On a copy that took \d+ s, and copying \d+ s/)
    expect(versionOf(other)).toBe('1')
    const { code, output } = await holdfast(join(folder.path, 'other'), ['migrate'])
    expect(code).toBe(0)
    expect(output).toContain('lacks 4 migrations; applying them')
    expect(output).toContain('4 migrations applied')
  })

  test.each([['account list'], ['admin statistics'], ['report list']])(
    '%j says that there is no data where there is none, and makes none',
    async (words) => {
      using folder = temporaryFolder()
      const { code, errors } = await holdfast(folder.path, words.split(' '))
      expect(code).toBe(1)
      expect(errors).toContain(`there is no Holdfast data in ${join(folder.path, 'data')}`)
      expect(readdirSync(folder.path)).toEqual([])
    },
  )

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
