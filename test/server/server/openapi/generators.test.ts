/** Programs of others that read the OpenAPI document: linters, and generators whose clients are compiled and run. */
// Only in test:all: installs and runs programs of others; openapi-answers.test.ts compares answers with the document.
// Only on a folder: is about the document; one server answers its clients.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startHoldfast, type TestHoldfast } from '../../../support/servers/holdfast.ts'
import type { Connect } from './generators/client.ts'
import { OPENAPI_FILE } from './openapi-file.ts'

const LONG = 300_000

const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', DO_NOT_TRACK: '1', CI: '1' }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-generators-'))
  await cp(join(import.meta.dir, 'generators'), folder, { recursive: true })
  await cp(OPENAPI_FILE, join(folder, 'openapi.json'))
  const installed = await run(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  expect(installed).toMatchObject({ code: 0 })
}, LONG)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs a program in the folder: its exit code, and what it printed. */
async function run(words: readonly string[]): Promise<{ readonly code: number; readonly printed: string }> {
  const output = join(folder, 'output.txt')
  const file = Bun.file(output)
  await writeFile(output, '')
  const child = Bun.spawn([...words], {
    cwd: folder,
    env: { ...process.env, ...QUIET },
    stdin: 'ignore',
    stdout: file,
    stderr: file,
  })
  const code = await child.exited
  return { code, printed: await Bun.file(output).text() }
}

const installed = (program: string) => `node_modules/.bin/${program}`

describe('the document passes', () => {
  test(
    'redocly, without a warning that is not waived by name',
    async () => {
      const { code, printed } = await run([installed('redocly'), 'lint', 'openapi.json'])
      expect(printed).not.toMatch(/\bwarnings?\b(?!:)/i)
      expect(code).toBe(0)
    },
    LONG,
  )

  test(
    'spectral, without a warning that is not waived by name',
    async () => {
      const words = ['lint', 'openapi.json', '--ruleset', 'spectral.yaml', '--fail-severity', 'hint']
      const { code, printed } = await run([installed('spectral'), ...words])
      expect(printed).toContain('No results with a severity of')
      expect(code).toBe(0)
    },
    LONG,
  )
})

const GENERATORS = {
  'openapi-fetch': ['openapi-typescript', 'openapi.json', '-o', 'generated/openapi-typescript/schema.ts'],
  orval: ['orval', '--config', 'orval.config.cjs'],
  'hey-api': ['openapi-ts', '-i', 'openapi.json', '-o', 'generated/hey-api', '-c', '@hey-api/client-fetch'],
} as const

describe('clients that are generated from the document', () => {
  let holdfast: TestHoldfast
  beforeAll(async () => {
    holdfast = await startHoldfast()
    for (const [program = '', ...words] of Object.values(GENERATORS)) {
      expect(await run([installed(program), ...words])).toMatchObject({ code: 0 })
    }
  }, LONG)
  afterAll(() => holdfast.stop())

  test(
    'compile as strictly as TypeScript can',
    async () => {
      expect(await run([installed('tsc'), '--project', '.'])).toEqual({ code: 0, printed: '' })
      expect(await readdir(join(folder, 'generated'))).toHaveLength(3)
    },
    LONG,
  )

  test.each(Object.keys(GENERATORS))('work with a server: %s', async (name) => {
    const { connect }: { readonly connect: Connect } = await import(join(folder, `${name}.ts`))
    const { apiKey } = await holdfast.addAccount()
    const client = connect(holdfast.url, apiKey)
    const bytes = Uint8Array.from({ length: 1000 }, (_, at) => at % 256)

    const slugs: string[] = []
    for (const file of ['a.bin', 'b.bin', 'c.bin']) slugs.push((await client.upload(file, bytes)).slug)
    const [first = '', second = '', third = ''] = slugs
    expect(await client.list(1, 2)).toEqual({ names: ['c.bin', 'b.bin'], pages: 2 })
    expect(await client.list(2, 2)).toEqual({ names: ['a.bin'], pages: 2 })
    expect(await client.detail(first)).toEqual({ name: 'a.bin', size: bytes.length })
    expect(await client.rename(first, 'ä b.bin')).toBe('ä b.bin')

    const open = await client.makeFolder('open', true)
    const closed = await client.makeFolder('closed', false)
    expect(await client.folders()).toEqual(
      new Map([
        [open, true],
        [closed, false],
      ]),
    )
    expect(await client.move(second, closed)).toBe(closed)
    expect(await client.download(first)).toEqual(bytes)
    expect(await client.remove([first, third])).toBe(2)
    expect(await client.missing(first)).toEqual({ status: 404, code: 'FILE_NOT_FOUND' })
    expect(await client.detail(second)).toMatchObject({ name: 'b.bin' })
  })
})
