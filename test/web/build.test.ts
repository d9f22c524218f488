import { expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { followSystem } from '../../web/build/mantine-styles.ts'
import { outcome, REPOSITORY, serving } from '../cli/command.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/child.ts'

/** A clone of this repository with its packages, and with the site as it is built here. */
function clone(): TemporaryFolder {
  const folder = temporaryFolder()
  for (const path of ['src', 'web', 'package.json', 'package-lock.json', 'tsconfig.json']) {
    cpSync(join(REPOSITORY, path), join(folder.path, path), { recursive: true })
  }
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder.path, 'node_modules'))
  return folder
}

function append(folder: TemporaryFolder, path: string, text: string): void {
  const file = join(folder.path, path)
  writeFileSync(file, readFileSync(file, 'utf8') + text)
}

function build(folder: TemporaryFolder) {
  return outcome([process.execPath, 'web/build.ts'], folder.path, {})
}

function assetsOf(folder: TemporaryFolder): string[] {
  return readdirSync(join(folder.path, 'web/dist/assets')).sort()
}

test('a build from the same sources is left alone, wherever the clone lies', async () => {
  using folder = clone()
  expect(await build(folder)).toEqual({ code: 0, output: '', errors: '' })
})

test('a change is built, named by its content, and what it replaces goes', async () => {
  using folder = clone()
  const before = assetsOf(folder)
  append(folder, 'web/file/style.css', '.changed { color: red }\n')
  expect(await build(folder)).toMatchObject({ code: 0 })
  const after = assetsOf(folder)
  const [gone, come] = [
    before.filter((name) => !after.includes(name)),
    after.filter((name) => !before.includes(name)),
  ]
  expect(gone.map((name) => name.replace(/-\w{8}/, ''))).toEqual(['file.css', 'file.css.br', 'file.css.gz'])
  expect(come.map((name) => name.replace(/-\w{8}/, ''))).toEqual(['file.css', 'file.css.br', 'file.css.gz'])
  expect(await build(folder)).toMatchObject({ code: 0, errors: '' })
})

test('a page that loads more than its budget fails the build, which leaves the last one as it is', async () => {
  using folder = clone()
  const before = assetsOf(folder)
  const ballast = Buffer.from(crypto.getRandomValues(new Uint8Array(48_000))).toString('base64')
  append(folder, 'web/file/main.ts', `console.log('${ballast}')\n`)
  const { code, errors } = await build(folder)
  expect(code).toBe(1)
  expect(errors).toMatch(/^file +script +\d+\.\d KB +of 40\.0 KB +TOO HEAVY$/m)
  expect(assetsOf(folder)).toEqual(before)
  expect(readdirSync(join(folder.path, 'web/dist')).filter((name) => name.startsWith('.'))).toEqual([])
})

test('servers that start at once in a clone that was changed build it first, and serve the change', async () => {
  using folder = clone()
  const texts = join(folder.path, 'src/http/site/texts/en.ts')
  writeFileSync(texts, readFileSync(texts, 'utf8').replace("title: 'Files in, links out'", "title: 'Ahoy'"))
  const main = [process.execPath, join(folder.path, 'src/main.ts')]
  const served = async () => {
    using own = temporaryFolder()
    const { code } = await serving(main, own.path, async (url) => {
      const html = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
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
  using folder = clone()
  append(folder, 'web/folder/main.ts', 'this is no program\n')
  const variables = { HOLDFAST_PORT: '0', HOLDFAST_DATA_DIR: join(folder.path, 'data') }
  const { code, output, errors } = await outcome(
    [process.execPath, 'src/main.ts', 'serve'],
    folder.path,
    variables,
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
