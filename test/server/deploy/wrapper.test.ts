/** `deploy/holdfast-command`, which runs commands as the service does. */
// Only in test:all: many starts of the program.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from '../../support/cli/command.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { runProgram } from '../../support/processes/program.ts'
import { type Installed, installWrapper } from './wrapper.ts'

const folder = temporaryFolder()
const data = join(folder.path, 'service')
let installed: Installed
beforeAll(() => {
  mkdirSync(data)
  mkdirSync(join(folder.path, 'here'))
  installed = installWrapper(folder.path, data)
})
afterAll(() => folder[Symbol.dispose]())

const run = async (script: string, variables: Record<string, string> = {}) => {
  const env = { PATH: `${installed.bin}:${process.env.PATH}`, HOME: folder.path, ...variables }
  return runProgram(['bash', '-euo', 'pipefail', '-c', script], { cwd: join(folder.path, 'here'), env })
}
/** Settings in force, which "holdfast config" prints. */
const inForce = async (script: string, variables: Record<string, string> = {}) => {
  const { code, output, errors } = await run(script, variables)
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  return output
}

describe('the wrapper passes on the environment of its caller', () => {
  test('with settings that win over those of the service, whatever signs are in them', async () => {
    writeFileSync(installed.settings, 'HOLDFAST_BIN_DAYS=3\nHOLDFAST_OIDC_NAME=Other\n')
    using _ = { [Symbol.dispose]: () => writeFileSync(installed.settings, '') }
    const name = `it's "$HOME" \`id\` \\ #1`
    const output = await inForce('holdfast config', {
      HOLDFAST_OIDC_NAME: name,
      HOLDFAST_OIDC_ISSUER: 'https://id.example.org',
      HOLDFAST_OIDC_CLIENT_ID: 'x',
      HOLDFAST_OIDC_CLIENT_SECRET: 'y',
      HOLDFAST_PUBLIC_URL: 'https://files.example.org',
    })
    expect(output).toContain(`HOLDFAST_OIDC_NAME=${name}`)
    expect(output).toContain('HOLDFAST_BIN_DAYS=3')
    expect(output).toContain(`HOLDFAST_DATA_DIR=${data}`)
  })

  test('with the data folder, so that a command works on no other one', async () => {
    const other = join(folder.path, 'other')
    const output = await inForce(`HOLDFAST_DATA_DIR=${other} holdfast config`)
    expect(output).toContain(`HOLDFAST_DATA_DIR=${other}`)
    await run(`HOLDFAST_DATA_DIR=${other} holdfast account add ann`)
    expect([existsSync(join(other, 'holdfast.sqlite')), readdirSync(data)]).toEqual([true, []])
  })

  test('with every other variable that the operations pages name', () => {
    const pages = readdirSync(join(REPOSITORY, 'docs/operations')).map((page) =>
      readFileSync(join(REPOSITORY, 'docs/operations', page), 'utf8'),
    )
    const named = pages.join().match(/\b(TMPDIR|NODE_EXTRA_CA_CERTS|PG[A-Z]{4,}|SSL_CERT_\w+)\b/g) ?? []
    const wrapper = readFileSync(join(REPOSITORY, 'deploy/holdfast-command'), 'utf8')
    expect([...new Set(named)].filter((name) => !wrapper.includes(name))).toEqual([])
  })

  test('and leaves nothing of it behind', async () => {
    const temporary = join(folder.path, 'temporary')
    mkdirSync(temporary)
    await inForce('holdfast config', { HOLDFAST_BIN_DAYS: '5', TMPDIR: temporary })
    expect(readdirSync(temporary)).toEqual([])
  })
})

test('the wrapper takes relative paths and files with settings as its caller means them', async () => {
  const here = join(folder.path, 'here')
  // Made for another program; the service would not read it either.
  writeFileSync(join(here, '.env'), 'HOLDFAST_BIN_DAYS=9\n')
  writeFileSync(join(here, 'own.env'), 'HOLDFAST_BIN_DAYS=8\n')
  writeFileSync(installed.settings, 'HOLDFAST_BIN_DAYS=3\n')
  expect(await inForce('holdfast config')).toContain('HOLDFAST_BIN_DAYS=3')
  expect(await inForce('holdfast --env-file own.env config')).toContain('HOLDFAST_BIN_DAYS=8')
})

test('the wrapper runs the commands of a client as its caller', async () => {
  const { code, output } = await run('holdfast help')
  expect(code).toBe(0)
  const client = output.slice(output.indexOf('Files on a server:'))
  const names = [...client.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name)
  expect(names).toContain('upload')
  const wrapper = readFileSync(join(REPOSITORY, 'deploy/holdfast-command'), 'utf8')
  const own = /^-V .*\)$/m.exec(wrapper)?.[0] ?? ''
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(own))).toEqual([])
})

const hasSudo = Bun.which('sudo') !== null && process.getuid?.() === 0
test.skipIf(!hasSudo)(
  'the wrapper refuses settings that sudo has dropped, and takes those behind it',
  async () => {
    const sudo = `sudo env PATH="$PATH"`
    const dropped = await run(`HOLDFAST_BIN_DAYS=5 sudo "$(command -v holdfast)" config`)
    expect([dropped.code, dropped.output]).toEqual([2, ''])
    expect(dropped.errors).toContain('sudo HOLDFAST_')
    expect((await run(`${sudo} HOLDFAST_BIN_DAYS=5 holdfast config`)).output).toContain('HOLDFAST_BIN_DAYS=5')
  },
)
