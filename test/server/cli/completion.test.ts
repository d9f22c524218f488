/** Completion in shells, the file of settings, the list of settings for programs, and the test message. */
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LAUNCHER, onlyThese, outcome } from '../../support/cli/command.ts'
import { holdfastHere as holdfast } from '../../support/cli/command-here.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { runProgram } from '../../support/processes/program.ts'
import { testWith } from '../../support/processes/tools.ts'
import { startMailServer } from '../../support/sign-in/mail-server.ts'

describe('holdfast completion', () => {
  const typed = [
    [['holdfast', 'acc'], ['account']],
    [['holdfast', 'account', 'dis'], ['disable']],
    [['holdfast', 'account', 'list', '--js'], ['--json']],
    [['holdfast', 'admin', 'jobs', 're'], ['retry']],
  ] as const

  test('of bash knows commands and options', async () => {
    using folder = temporaryFolder()
    const { output: script } = await holdfast(folder.path, ['completion', 'bash'])
    for (const [words, expected] of typed) {
      const asked = `${script}\nCOMP_WORDS=(${words.join(' ')}) COMP_CWORD=${words.length - 1}\n_holdfast\necho "\${COMPREPLY[@]}"`
      const { output } = await runProgram(['bash', '-c', asked])
      expect(output.trim().split(' ')).toEqual([...expected])
    }
  })

  testWith(['fish'], 'of fish knows commands and options', async () => {
    using folder = temporaryFolder()
    const { output: script } = await holdfast(folder.path, ['completion', 'fish'])
    for (const [words, expected] of typed) {
      const asked = `${script}\ncomplete -C '${words.join(' ')}'`
      const { output } = await runProgram(['fish', '--no-config', '-c', asked], {
        env: onlyThese({ HOME: folder.path }),
      })
      expect(output.trim().split('\n')).toEqual([...expected])
    }
  })

  testWith(['zsh'], 'of zsh is taken by zsh', async () => {
    using folder = temporaryFolder()
    const { output: script } = await holdfast(folder.path, ['completion', 'zsh'])
    const asked = `autoload -U compinit && compinit -u -d '${folder.path}/dump'\n${script}\n_holdfast_words 'admin jobs'`
    const { code, output, errors } = await runProgram(['zsh', '-fc', asked])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(output).toContain('retry')
  })
})

test('--env-file reads settings from a file of any name, in place of .env', async () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, '.env'), 'HOLDFAST_PORT=4000\n')
  const path = join(folder.path, 'holdfast.env')
  writeFileSync(path, "HOLDFAST_STORAGE_LIMIT='5GB'\n")
  for (const words of [['--env-file', path], [`--env-file=${path}`]]) {
    const { output } = await holdfast(folder.path, [...words, 'config', '--json'])
    const settings: { variable: string; value: string; is_set: boolean }[] = JSON.parse(output)
    const of = (variable: string) => settings.find((each) => each.variable === variable)
    expect(of('HOLDFAST_STORAGE_LIMIT')).toMatchObject({ value: '5GB', is_set: true })
    expect(of('HOLDFAST_PORT')).toMatchObject({ value: '3000', is_set: false })
  }
  const missing = await holdfast(folder.path, ['--env-file', join(folder.path, 'none'), 'config'])
  expect(missing.code).toBe(1)
  expect(missing.errors).toContain(`the settings in ${join(folder.path, 'none')} cannot be read`)
})

test('--env-file in a place where it would count for nothing is refused', async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'holdfast.env')
  writeFileSync(path, "HOLDFAST_STORAGE_LIMIT='5#GB'\n")
  for (const words of [
    ['config', '--env-file', path],
    ['config', `--env-file=${path}`],
    ['--env-file', path, '--env-file', path, 'config'],
  ]) {
    const { code, output, errors } = await holdfast(folder.path, words)
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(errors).toContain('holdfast --env-file <path> <command>')
  }
  const byNode = await outcome(['node', `--env-file=${path}`, LAUNCHER, 'config'], folder.path, {})
  expect([byNode.code, byNode.output]).toEqual([2, ''])
  expect(byNode.errors).toContain('Node.js has taken --env-file for itself')
  // As it is installed: Node.js leaves it to the program.
  const missing = await outcome(
    [LAUNCHER, '--env-file', join(folder.path, 'none'), 'config'],
    folder.path,
    {},
  )
  expect(missing.errors).toContain(`the settings in ${join(folder.path, 'none')} cannot be read`)
})

describe('holdfast mail test', () => {
  const settings = (port: number) => ({
    HOLDFAST_PUBLIC_URL: 'https://files.example.org',
    HOLDFAST_SMTP_URL: `smtp://files%40example.org:a%20password%20between%20servers@127.0.0.1:${port}`,
    HOLDFAST_MAIL_FROM: 'Holdfast <files@example.org>',
  })

  test('sends a message through the server of the settings', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    const { code, output } = await holdfast(
      folder.path,
      ['mail', 'test', 'ann@example.org'],
      settings(server.port),
    )
    expect(code).toBe(0)
    expect(output).toContain(`127.0.0.1:${server.port} took the message for ann@example.org`)
    expect(server.take('ann@example.org')?.text).toContain('Holdfast at files.example.org can send mail.')
  })

  test('says what the server answers when it does not take it, and which setting is missing', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    const { port } = server
    await server.goAway()
    const away = await holdfast(folder.path, ['mail', 'test', 'ann@example.org'], settings(port))
    expect(away.code).toBe(1)
    expect(away.errors).toContain(`127.0.0.1:${port} did not take the message`)
    const unset = await holdfast(folder.path, ['mail', 'test', 'ann@example.org'])
    expect(unset.errors).toContain('set HOLDFAST_SMTP_URL')
  })
})
