import { describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withEnvFile } from '../../../src/cli/env-file.ts'
import { ConfigError } from '../../../src/config/environment.ts'
import { settings } from '../../../src/settings.ts'
import { LAUNCHER, MAIN, outcome } from '../../support/cli/command.ts'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

describe('holdfast config', () => {
  test('lists every setting with its default', async () => {
    using folder = temporaryFolder()
    const { code, output, errors } = await holdfast(folder.path, ['config'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    for (const setting of Object.values(settings)) {
      expect(output).toContain(`${setting.variable}=${setting.default}\n`)
      expect(output).toContain(setting.description)
    }
  })

  test('reads a .env file in the folder where it runs', async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, '.env'), 'HOLDFAST_PORT=4000\nHOLDFAST_STORAGE_LIMIT=5GB\n')
    const { output } = await holdfast(folder.path, ['config'])
    expect(output).toContain('HOLDFAST_PORT=4000\n')
    expect(output).toContain('HOLDFAST_STORAGE_LIMIT=5GB\n')
    expect(output).toContain('the default is 3000')
  })

  test('takes the environment before the .env file', async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, '.env'), 'HOLDFAST_PORT=4000\n')
    const { output } = await holdfast(folder.path, ['config'], { HOLDFAST_PORT: '5000' })
    expect(output).toContain('HOLDFAST_PORT=5000\n')
  })
})

describe('the .env file', () => {
  const values: readonly [string, string, string][] = [
    ['a $ in single quotes', "'pa$PATH$$x'", 'pa$PATH$$x'],
    ['a $ in double quotes', '"pa$PATH"', 'pa$PATH'],
    ['a $ without quotes', 'pa$PATH', 'pa$PATH'],
    ['a # in quotes', "'a#b # c'", 'a#b # c'],
    ['a comment behind a value', 'abc # not of it', 'abc'],
    ['quotes in other quotes', `'say "hi"'`, 'say "hi"'],
    ['spaces around and inside', '  a b  ', 'a b'],
    ['a new line in double quotes', '"a\\nb"', 'a\nb'],
    ['several lines', '"a\nb"', 'a\nb'],
    ['an = and a comma', 'a=b,c', 'a=b,c'],
  ]
  test.each(values)('is read as people expect: %s', (_name, written, meant) => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, '.env'), `# first\nexport HOLDFAST_OIDC_NAME=${written}\r\nOTHER=1\n`)
    expect(withEnvFile({ PATH: '/bin', OTHER: '2' }, folder.path)).toEqual({
      HOLDFAST_OIDC_NAME: meant,
      OTHER: '2',
      PATH: '/bin',
    })
  })

  const programs: readonly [string, readonly string[]][] = [
    ['the launcher', ['node', LAUNCHER]],
    ['the program', [process.execPath, '--no-env-file', MAIN]],
  ]
  test.each(programs)(
    'is the only one of its kind that %s reads, and no word in it is expanded',
    async (_name, program) => {
      using folder = temporaryFolder()
      writeFileSync(join(folder.path, '.env'), "HOLDFAST_OIDC_NAME='$HOME'\nHOLDFAST_METRICS=on\n")
      for (const name of ['.env.local', '.env.production', '.env.development']) {
        writeFileSync(join(folder.path, name), 'HOLDFAST_PORT=4000\n')
      }
      const { output } = await outcome([...program, 'config'], folder.path, {})
      expect(output).toContain('HOLDFAST_OIDC_NAME=$HOME\n')
      expect(output).toContain('HOLDFAST_METRICS=on\n')
      expect(output).toContain('HOLDFAST_PORT=3000\n')
    },
  )

  test('with a value that a # would cut short is refused, and its value is not shown', async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, '.env'), 'HOLDFAST_METRICS=on\nHOLDFAST_METRICS_TOKEN=pass#word\n')
    const { code, errors } = await holdfast(folder.path, ['config'])
    expect(code).toBe(1)
    expect(errors).toContain('HOLDFAST_METRICS_TOKEN is "…": in .env a # ends what is in no quotes')
    expect(errors).not.toContain('pass')
  })

  test('with a name that no = follows is refused, and so is a file that cannot be read', () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, '.env'), 'HOLDFAST_METRICS=on\nHOLDFAST_GUEST_UPLOADS false\n')
    expect(() => withEnvFile({}, folder.path)).toThrow(ConfigError)
    writeFileSync(join(folder.path, 'file'), '')
    expect(() => withEnvFile({}, join(folder.path, 'file'))).toThrow('the settings in')
  })
})

describe('wrong settings', () => {
  test.each([['serve'], ['account list'], ['key list ann'], ['config']])(
    'holdfast %s ends with 1 and names the variable, the value and what is allowed',
    async (words) => {
      using folder = temporaryFolder()
      const { code, errors } = await holdfast(folder.path, words.split(' '), { HOLDFAST_PORT: '70000' })
      expect(code).toBe(1)
      expect(errors).toContain('HOLDFAST_PORT is "70000": allowed is a whole number from 0 to 65535')
      expect(errors).not.toMatch(/^\s+at /m)
    },
  )

  test('a wrong value in the .env file is named like one in the environment', async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, '.env'), 'HOLDFAST_STORAGE_LIMIT=lots\n')
    const { code, errors } = await holdfast(folder.path, ['serve'])
    expect(code).toBe(1)
    expect(errors).toContain('HOLDFAST_STORAGE_LIMIT is "lots"')
  })

  test('nothing is made in the data folder before the settings are accepted', async () => {
    using folder = temporaryFolder()
    await holdfast(folder.path, ['serve'], { HOLDFAST_POTR: '80' })
    expect(existsSync(join(folder.path, 'data'))).toBe(false)
  })
})
