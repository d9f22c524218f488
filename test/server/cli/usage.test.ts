import { describe, expect, test } from 'bun:test'
import manifest from '../../../package.json' with { type: 'json' }
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

/** The release, and the commit where it is known. */
const VERSION = new RegExp(`^${manifest.version.replaceAll('.', '\\.')}(?:\\+[0-9a-f]{12})?\n$`)

describe('help', () => {
  test.each([
    ['--help'],
    ['serve --help'],
    ['account --help'],
    ['account add --help'],
    ['account list --help'],
    ['account disable --help'],
    ['key --help'],
    ['key add --help'],
    ['key list --help'],
    ['key revoke --help'],
    ['report --help'],
    ['report list --help'],
    ['report show --help'],
    ['report dismiss --help'],
    ['report take-down --help'],
    ['admin --help'],
    ['admin take-down --help'],
    ['admin notice --help'],
    ['admin jobs --help'],
    ['admin audit --help'],
    ['migrate --help'],
    ['relocate --help'],
    ['config --help'],
    ['mail test --help'],
    ['completion --help'],
    ...[
      'login',
      'logout',
      'upload',
      'download',
      'ls',
      'mkdir',
      'mv',
      'rm',
      'info',
      'search',
      'share',
      'request',
      'receive',
      'links',
      'receipt',
      'webhooks',
    ].map((name) => [`${name} --help`]),
  ])('holdfast %s explains the command and ends with 0', async (words) => {
    using folder = temporaryFolder()
    const { code, output, errors } = await holdfast(folder.path, words.split(' '))
    expect(code).toBe(0)
    // A command may have another name after it.
    expect(output).toMatch(new RegExp(`^Usage: holdfast ${words.replace(/ ?--help/, '')}(?:\\|[a-z]+)?`))
    expect(errors).toBe('')
  })

  test('the version is the one of the package', async () => {
    using folder = temporaryFolder()
    expect(await holdfast(folder.path, ['--version'])).toEqual({
      code: 0,
      output: expect.stringMatching(VERSION),
      errors: '',
    })
  })
})

describe('wrong use', () => {
  test.each([
    [''],
    ['account'],
    ['key'],
    ['accont add ann'],
    ['account remove ann'],
    ['account add'],
    ['account add ann bob'],
    ['account add ann --jsn'],
    ['account disable'],
    ['key add'],
    ['key add ann --name'],
    ['key revoke ann'],
    ['report'],
    ['report show'],
    ['report show abc'],
    ['report dismiss'],
    ['report dismiss 1 0'],
    ['serve now'],
    ['serve --port 80'],
    ['config everything'],
    ['login'],
    ['upload'],
    ['upload - a.txt'],
    ['upload a.txt --parallel 0'],
    ['upload a.txt --chunk-size 1KB'],
    ['upload a.txt --guest --folder /photos'],
    ['upload a.txt --each --until 7d'],
    ['download'],
    ['mkdir'],
    ['mv /photos'],
    ['rm'],
    ['rm /photos'],
    ['search'],
    ['share'],
    ['share /photos --until yesterday'],
    ['share /photos --downloads 0'],
    ['request'],
    ['request /photos --max-size much'],
    ['request /photos --ask colour'],
    ['request /photos --types pdf'],
    ['receipt --delete'],
    ['receipt --log'],
    ['receipt https://files.example.org/r/a.b --log --downloads 3'],
    ['receipt https://files.example.org/r/a.b --delete --claim'],
    ['receipt https://files.example.org/r/a.b --folder /photos'],
  ])('holdfast %s ends with 2 and says what is wrong on standard error', async (words) => {
    using folder = temporaryFolder()
    const { code, output, errors } = await holdfast(folder.path, words.split(' ').filter(Boolean))
    expect(code).toBe(2)
    expect(output).toBe('')
    expect(errors).toMatch(/^(error: |Usage: )/)
  })

  test('a mistyped command is answered with the nearest one', async () => {
    using folder = temporaryFolder()
    const { errors } = await holdfast(folder.path, ['accont', 'add', 'ann'])
    expect(errors).toContain('account')
  })
})
