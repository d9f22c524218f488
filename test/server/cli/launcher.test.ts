import { expect, test } from 'bun:test'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../../package.json' with { type: 'json' }
import { LAUNCHER, outcome, REPOSITORY, serving } from '../../support/cli/command.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

/** The release, and the commit where it is known. */
const VERSION = new RegExp(`^${manifest.version.replaceAll('.', '\\.')}(?:\\+[0-9a-f]{12})?\n$`)

test('the launcher runs under node and passes output and success on', async () => {
  using folder = temporaryFolder()
  expect(await outcome(['node', LAUNCHER, '--version'], folder.path, {})).toEqual({
    code: 0,
    output: expect.stringMatching(VERSION),
    errors: '',
  })
})

test('the launcher passes the exit code of a failure on', async () => {
  using folder = temporaryFolder()
  expect((await outcome(['node', LAUNCHER, 'nonsense'], folder.path, {})).code).toBe(2)
  expect((await outcome(['node', LAUNCHER, 'config'], folder.path, { HOLDFAST_PORT: 'x' })).code).toBe(1)
})

test('the launcher needs no bun in the path', async () => {
  using folder = temporaryFolder()
  const node = Bun.which('node') ?? 'node'
  const { code, output } = await outcome([node, LAUNCHER, '--version'], folder.path, { PATH: folder.path })
  expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(VERSION) })
})

test('installed as a package, the launcher starts a server whose pages render', async () => {
  using folder = temporaryFolder()
  // Bun treats what lies in a folder named node_modules differently: it reads no tsconfig.json there.
  const installed = join(folder.path, 'node_modules/holdfast')
  for (const path of ['bin', 'src', 'dist', 'web/dist', 'package.json']) {
    cpSync(join(REPOSITORY, path), join(installed, path), { recursive: true })
  }
  symlinkSync(join(REPOSITORY, 'node_modules'), join(installed, 'node_modules'))
  // As npm does it for a package that is installed globally.
  const command = join(folder.path, 'holdfast')
  symlinkSync(join(installed, 'bin/holdfast.js'), command)
  const { lines } = await serving([command], folder.path, async (url) => {
    const page = await fetch(`${url}/`, { headers: { Accept: 'text/html' } })
    expect(page.status).toBe(200)
    expect(await page.text()).toStartWith('<!doctype html>')
    return 'SIGTERM'
  })
  expect(lines.find(({ msg }) => msg === 'listening')?.make_an_account).toBe(
    'holdfast account add <username>',
  )
})

test.each([['SIGTERM'], ['SIGINT']] as const)(
  'the launcher passes %s on, and the server stops cleanly',
  async (signal) => {
    using folder = temporaryFolder()
    const { code, lines } = await serving(['node', LAUNCHER], folder.path, async () => signal)
    expect(code).toBe(0)
    expect(lines.at(-1)?.msg).toBe('stopped')
  },
)

test('a server whose launcher was killed stops by itself', async () => {
  using folder = temporaryFolder()
  let server = ''
  const { code } = await serving(['node', LAUNCHER], folder.path, async (url) => {
    server = url
    return 'SIGKILL'
  })
  expect(code).toBe(137)
  const isUp = () =>
    fetch(`${server}/health`).then(
      () => true,
      () => false,
    )
  await eventually('it stops', async () => !(await isUp()))
})
