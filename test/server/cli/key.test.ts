// Only in test:all: many starts of the program; test/cluster/accounts/keys.test.ts has the same by its interface.
import { describe, expect, test } from 'bun:test'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

describe('holdfast key', () => {
  test('adds a key under a name and prints it once', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    const added = await holdfast(folder.path, ['key', 'add', 'ann', '--name', 'backup', '--json'])
    expect(added.code).toBe(0)
    const key = JSON.parse(added.output)
    expect(key).toEqual({
      id: expect.any(Number),
      username: 'ann',
      name: 'backup',
      prefix: key.api_key.slice(0, key.prefix.length),
      scopes: ['read', 'upload', 'manage'],
      folder: null,
      expires_at: null,
      api_key: expect.stringMatching(/^hf_[A-Za-z0-9_-]{43}$/),
    })
    const { output } = await holdfast(folder.path, ['key', 'list', 'ann'])
    expect(output).toContain('backup')
    expect(output).toContain(key.prefix)
    expect(output).not.toContain(key.api_key)
  })

  test('adds a key that can do less, and lists what it can do', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    const words = ['key', 'add', 'ann', '--scope', 'upload,read', '--expires', '2999-01-31', '--json']
    const { output } = await holdfast(folder.path, words)
    const what = { scopes: ['read', 'upload'], folder: null, expires_at: '2999-01-31T00:00:00.000Z' }
    expect(JSON.parse(output)).toMatchObject(what)
    const keys = JSON.parse((await holdfast(folder.path, ['key', 'list', 'ann', '--json'])).output)
    expect(keys[1]).toMatchObject({ ...what, folder_name: null })
    const shown = (await holdfast(folder.path, ['key', 'list', 'ann'])).output
    expect(shown).toContain('read,upload')
    expect(shown).toContain('active until 2999-01-31')
  })

  test.each([
    [2, 'no scope', ['--scope', 'read,write']],
    [2, 'no time to come', ['--expires', '2020-01-31']],
    [2, 'no number of days', ['--expires', '0d']],
    [2, 'no day of February', ['--expires', '2999-02-30']],
    [1, 'no folder of the account', ['--folder', 'abcdefghijklmnop']],
  ])('add ends with %d for what is %s', async (code, _, words) => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    const added = await holdfast(folder.path, ['key', 'add', 'ann', ...words])
    expect({ code: added.code, output: added.output }).toEqual({ code, output: '' })
    expect(JSON.parse((await holdfast(folder.path, ['key', 'list', 'ann', '--json'])).output)).toHaveLength(1)
  })

  test('prints a key for people without --json', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    const { code, output } = await holdfast(folder.path, ['key', 'add', 'ann'])
    expect(code).toBe(0)
    expect(output.trim().split(/\s+/).at(-1)).toStartWith('hf_')
  })

  test.each([['id'], ['prefix']] as const)('revokes the key that its %s names, and no other', async (by) => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    const key = JSON.parse((await holdfast(folder.path, ['key', 'add', 'ann', '--json'])).output)
    const { code } = await holdfast(folder.path, ['key', 'revoke', 'ann', String(key[by])])
    expect(code).toBe(0)
    const keys: { id: number; revoked_at: string | null }[] = JSON.parse(
      (await holdfast(folder.path, ['key', 'list', 'ann', '--json'])).output,
    )
    expect(keys.filter(({ revoked_at }) => revoked_at !== null).map(({ id }) => id)).toEqual([key.id])
    expect(keys).toHaveLength(2)
  })

  test.each([['add'], ['list']])('%s ends with 1 for an account that does not exist', async (command) => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'somebody'])
    const { code, output, errors } = await holdfast(folder.path, ['key', command, 'nobody'])
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toContain('nobody')
  })

  test('revoke ends with 1 for a key that does not exist', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    expect((await holdfast(folder.path, ['key', 'revoke', 'ann', '999'])).code).toBe(1)
  })
})
