// Only in test:all: builds the site several times; the run itself builds it once.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { followSystem } from '../../../web/build/mantine-styles.ts'
import { outcome, REPOSITORY, serving } from '../../support/cli/command.ts'
import { temporaryFolder } from '../../support/processes/child.ts'

/** A clone of this repository with its packages, and with the site as it is built there, not here. */
const clone = temporaryFolder()
afterAll(() => clone[Symbol.dispose]())
beforeAll(async () => {
  for (const path of ['src', 'web', 'docs/guide', 'package.json', 'package-lock.json', 'tsconfig.json']) {
    cpSync(join(REPOSITORY, path), join(clone.path, path), { recursive: true })
  }
  rmSync(join(clone.path, 'web/dist'), { recursive: true, force: true })
  symlinkSync(join(REPOSITORY, 'node_modules'), join(clone.path, 'node_modules'))
  expect(await build('--force')).toMatchObject({ code: 0 })
})

/** As by a server, which lets nobody read what it makes. */
function build(...options: readonly string[]) {
  const closed = ['sh', '-c', 'umask 077 && exec "$@"', 'sh']
  return outcome([...closed, process.execPath, 'web/build.ts', ...options], clone.path, {})
}

function assets(): string[] {
  return readdirSync(join(clone.path, 'web/dist/assets')).sort()
}

/** The file says something else until the end of the scope. */
function changed(path: string, change: (text: string) => string): Disposable {
  const file = join(clone.path, path)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, change(text))
  return { [Symbol.dispose]: () => writeFileSync(file, text) }
}

test('what is built is for every user of the machine', () => {
  const modes = ['dist', 'web/dist', 'web/dist/assets', 'web/dist/manifest.json'].map(
    (path) => statSync(join(clone.path, path)).mode & 0o777,
  )
  expect(modes).toEqual([0o755, 0o755, 0o755, 0o644])
})

test('a build from the same sources is left alone', async () => {
  expect(await build()).toEqual({ code: 0, output: '', errors: '' })
})

test('the program runs from its bundle until a source has changed, and from the next bundle again', async () => {
  const said = async () =>
    (await outcome([process.execPath, 'src/main.ts', '--version'], clone.path, {})).output
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'))
  writeFileSync(
    join(clone.path, 'dist/cli/program.js'),
    "export const run = async () => { console.log('bundle'); return 0 }",
  )
  expect(await said()).toBe('bundle\n')
  {
    using _ = changed('src/domain/clock.ts', (text) => `${text}\n// changed\n`)
    expect(await said()).toBe(`${version}\n`)
  }
  expect(await build()).toMatchObject({ code: 0 })
  writeFileSync(join(clone.path, 'dist/cli/program.js'), 'this is no program')
  expect(await said()).toBe('')
  expect(await build('--force')).toMatchObject({ code: 0 })
  expect(await said()).toBe(`${version}\n`)
  expect(readdirSync(clone.path).filter((name) => name.startsWith('.dist'))).toEqual([])
})

test('a change is built, named by its content, and what it replaces goes', async () => {
  const before = assets()
  using _ = changed('web/file/style.css', (text) => `${text}.changed { color: red }\n`)
  expect(await build()).toMatchObject({ code: 0 })
  const after = assets()
  for (const [some, others] of [
    [before, after],
    [after, before],
  ] as const) {
    const only = some.filter((name) => !others.includes(name))
    expect(only.map((name) => name.replace(/-\w{8}/, ''))).toEqual(['file.css', 'file.css.br', 'file.css.gz'])
  }
  expect(await build()).toMatchObject({ code: 0, errors: '' })
})

test('a page that loads more than its budget fails the build, which leaves the last one as it is', async () => {
  const before = assets()
  const ballast = Buffer.from(crypto.getRandomValues(new Uint8Array(48_000))).toString('base64')
  using _ = changed('web/file/main.ts', (text) => `${text}\nconsole.log('${ballast}')\n`)
  const { code, errors } = await build()
  expect(code).toBe(1)
  expect(errors).toMatch(/^file +script +\d+\.\d KB +of 12\.0 KB +TOO HEAVY$/m)
  expect(assets()).toEqual(before)
  expect(readdirSync(join(clone.path, 'web/dist')).filter((name) => name.startsWith('.'))).toEqual([])
})

test('servers that start at once in a clone that was changed build it first, and serve the change', async () => {
  using _ = changed('src/pages/texts/en.ts', (text) =>
    text.replace("title: 'This page is not here'", "title: 'Ahoy'"),
  )
  const main = [process.execPath, join(clone.path, 'src/main.ts')]
  const served = async () => {
    using own = temporaryFolder()
    const { code } = await serving(main, own.path, async (url) => {
      const page = await fetch(`${url}/nowhere`, { headers: { accept: 'text/html' } })
      const html = await page.text()
      expect(html).toContain('<title>Ahoy · Holdfast</title>')
      const style = /href="(\/assets\/shared-\w+\.css)"/.exec(html)?.[1]
      expect((await fetch(url + style)).status).toBe(200)
      return 'SIGTERM'
    })
    return code
  }
  expect(await Promise.all([served(), served(), served()])).toEqual([0, 0, 0])
})

test('a server whose site cannot be built says so and does not start', async () => {
  using _ = changed('web/folder/main.ts', (text) => `${text}\nthis is no program\n`)
  const settings = { HOLDFAST_PORT: '0', HOLDFAST_DATA_DIR: join(clone.path, 'data') }
  const { code, output, errors } = await outcome(
    [process.execPath, 'src/main.ts', 'serve'],
    clone.path,
    settings,
  )
  expect(code).toBe(1)
  expect(output).not.toContain('listening')
  expect(errors).toContain('npm run build')
  expect(errors).toContain('web/folder/main.ts')
})

test('styles that wait for an attribute of the document ask the system instead', () => {
  const css = `
    [data-mantine-color-scheme='dark'] .a, .b { color: red }
    :root[data-mantine-color-scheme='light'], :host([data-mantine-color-scheme='light']) { --x: 1 }
    [data-mantine-color-scheme] .c[data-error] { color: blue }
    @media (hover: hover) { :where([data-mantine-color-scheme="light"]) .d:hover { color: green } }
    :root { --mantine-color-teal-1: red; --mantine-color-red-1: blue }`
  expect(followSystem(css).replace(/\s+/g, ' ').trim()).toBe(
    [
      '@media (prefers-color-scheme: dark) { :root .a { color: red } } .b { color: red }',
      '@media (prefers-color-scheme: light) { :root { --x: 1 } }',
      ':root .c[data-error] { color: blue }',
      '@media (hover: hover) { @media (prefers-color-scheme: light) { :where(:root) .d:hover { color: green } } }',
      ':root { --mantine-color-red-1: blue }',
    ].join(' '),
  )
})
