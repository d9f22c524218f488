import { describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from '../../src/settings.ts'
import { temporaryFolder } from '../support/child.ts'
import { holdfast } from './command.ts'

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
