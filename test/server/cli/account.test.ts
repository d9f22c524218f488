// Only in test:all: many starts of the program; test/cluster/accounts has the same by its interface.
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

const API_KEY = /^hf_[A-Za-z0-9_-]{43}$/

describe('holdfast account add', () => {
  test('prints the account and its first key', async () => {
    using folder = temporaryFolder()
    const { code, output, errors } = await holdfast(folder.path, ['account', 'add', 'ann'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(output).toContain('Account ann')
    expect(output.trim().split(/\s+/).at(-1)).toMatch(API_KEY)
  })

  test('with --json prints exactly id, username and api_key', async () => {
    using folder = temporaryFolder()
    const { code, output } = await holdfast(folder.path, ['account', 'add', 'Ann', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(output)).toEqual({
      id: expect.any(Number),
      username: 'ann',
      api_key: expect.stringMatching(API_KEY),
    })
  })

  test('refuses a name that is taken, whatever its case, with 1', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    const { code, output, errors } = await holdfast(folder.path, ['account', 'add', 'ANN', '--json'])
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toContain('already exists')
    expect(errors).not.toMatch(/^\s+at /m)
  })

  test.each([['an'], ['ann lee'], ['änn'], ['a'.repeat(33)]])(
    'refuses the name "%s" with 1',
    async (name) => {
      using folder = temporaryFolder()
      const { code, errors } = await holdfast(folder.path, ['account', 'add', name])
      expect(code).toBe(1)
      expect(errors).toContain('3 to 32')
    },
  )
})

describe('holdfast account list', () => {
  test('shows accounts in the order they were added, and no key', async () => {
    using folder = temporaryFolder()
    const first = JSON.parse((await holdfast(folder.path, ['account', 'add', 'ann', '--json'])).output)
    await holdfast(folder.path, ['account', 'add', 'bob'])
    const { code, output } = await holdfast(folder.path, ['account', 'list'])
    expect(code).toBe(0)
    expect(output.indexOf('ann')).toBeGreaterThan(0)
    expect(output.indexOf('bob')).toBeGreaterThan(output.indexOf('ann'))
    expect(output).not.toContain(first.api_key.slice(3))
  })

  test('with --json prints an array', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    const { output } = await holdfast(folder.path, ['account', 'list', '--json'])
    expect(JSON.parse(output)).toEqual([
      {
        id: expect.any(Number),
        username: 'ann',
        display_name: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        disabled_at: null,
        is_admin: false,
        storage_used: 0,
        storage_limit: expect.any(Number),
        quota: null,
        inactive_days: null,
        files_count: 0,
      },
    ])
  })

  test('where there is no data says so, and makes none', async () => {
    using folder = temporaryFolder()
    const { code, errors } = await holdfast(folder.path, ['account', 'list'])
    expect({ code, left: readdirSync(folder.path) }).toEqual({ code: 1, left: [] })
    expect(errors).toContain('there is no Holdfast data in')
  })
})

describe('holdfast account disable', () => {
  test('disables the account, and the list says so', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    expect((await holdfast(folder.path, ['account', 'disable', 'ann'])).code).toBe(0)
    const { output } = await holdfast(folder.path, ['account', 'list', '--json'])
    expect(JSON.parse(output)[0].disabled_at).toEqual(expect.any(String))
  })

  test('ends with 1 for an account that does not exist', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    const { code, errors } = await holdfast(folder.path, ['account', 'disable', 'nobody'])
    expect(code).toBe(1)
    expect(errors).toContain('nobody')
  })
})

describe('a one-time link', () => {
  test('is printed for an account, and for a new administrator', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    const link = await holdfast(folder.path, ['account', 'link', 'ann'])
    expect(link.output).toMatch(/^ {2}http:\/\/localhost:3000\/set-password\/[\w-]{32}$/m)
    const made = JSON.parse((await holdfast(folder.path, ['admin', 'add', 'Root', '--json'])).output)
    expect(made).toEqual({ username: 'root', url: expect.stringContaining('/set-password/') })
    const promoted = JSON.parse((await holdfast(folder.path, ['admin', 'add', 'ann', '--json'])).output)
    expect(promoted).toEqual({ username: 'ann', url: null })
    expect((await holdfast(folder.path, ['account', 'link', 'bob'])).errors).toContain('there is no account')
  })

  test('is not printed for a disabled account, which administers nothing', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['account', 'add', 'ann'])
    await holdfast(folder.path, ['account', 'disable', 'ann'])
    const { code, errors } = await holdfast(folder.path, ['admin', 'add', 'ann'])
    expect([code, errors]).toEqual([1, expect.stringContaining('enable it first')])
  })
})
