// Only in test:all: starts six servers for each version; migrations.contract.test.ts has migrations of the schema.
/** Compatibility: today's program on databases, stores and backups that released versions made. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { holdfast } from '../../support/cli/command.ts'
import {
  type KeptVersion,
  keepVersion,
  keptFacts,
  keptVersions,
} from '../../support/databases/kept-version.ts'
import { createDatabase, whyNoPostgres } from '../../support/databases/postgres.ts'
import { type ChildSettings, startChild, temporaryFolder } from '../../support/processes/child.ts'
import { runProgram } from '../../support/processes/program.ts'

const list = z.object({ data: z.array(z.object({ name: z.string() })) })
const links = z.object({
  data: z.array(
    z.object({ slug: z.string(), has_password: z.boolean(), max_downloads: z.number().nullable() }),
  ),
})
const bin = z.object({ data: z.array(z.unknown()) })

const scratch = temporaryFolder()
const NOW = join(scratch.path, 'this version')
afterAll(() => scratch[Symbol.dispose]())

describe
  .skipIf(whyNoPostgres() !== null)
  .each([NOW, ...keptVersions()].map((place) => [basename(place), place] as const))('%s', (_, place) => {
  beforeAll(() => (place === NOW ? keepVersion(place) : undefined))

  test('its SQLite database and its folder are served', async () => {
    using home = temporaryFolder()
    await unpack('sqlite.tar.gz', home.path)
    await hasAll(join(home.path, 'data'), {}, keptFacts(place).sqlite)
  })

  test('its backup is restored', async () => {
    using home = temporaryFolder()
    await unpack('backup.tar.gz', home.path)
    const restored = join(home.path, 'restored')
    const { code, errors } = await holdfast(home.path, ['restore', join(home.path, 'backup')], {
      HOLDFAST_DATA_DIR: restored,
    })
    expect(errors).not.toContain('error')
    expect(code).toBe(0)
    await hasAll(restored, {}, keptFacts(place).sqlite)
  })

  test('its PostgreSQL database is served', async () => {
    using home = temporaryFolder()
    await unpack('postgresql-store.tar.gz', home.path)
    await using stack = new AsyncDisposableStack()
    const database = stack.adopt(await createDatabase(), (it) => it.drop())
    const dump = Bun.gunzipSync(await Bun.file(join(place, 'postgresql.sql.gz')).bytes())
    const loaded = await runProgram(['psql', '--quiet', '--set=ON_ERROR_STOP=1', database.url], {
      stdin: dump,
    })
    expect(loaded.code, loaded.errors).toBe(0)
    await hasAll(join(home.path, 'node'), { DATABASE_URL: database.url }, keptFacts(place).postgresql)
  })

  async function unpack(name: string, into: string): Promise<void> {
    const { code, errors } = await runProgram(['tar', '-xzf', join(place, name), '-C', into])
    expect(code, errors).toBe(0)
  }
})

/** Starts a server on it and looks at everything, as a program and as a visitor. */
async function hasAll(dataDir: string, settings: ChildSettings, facts: KeptVersion): Promise<void> {
  await using server = await startChild(dataDir, settings)
  const get = (path: string, init: RequestInit = {}) => fetch(new URL(path, server.url), init)
  const owner = { headers: { Authorization: `Bearer ${facts.apiKey}` } }
  const parsed = async <T>(schema: z.ZodType<T>, path: string) =>
    schema.parse(await (await get(path, owner)).json())

  const files = await parsed(list, '/api/v1/files?sort=name&order=asc')
  expect(files.data.map(({ name }) => name).toSorted()).toEqual([...facts.names])
  const { data: made } = await parsed(links, '/api/v1/links')
  expect(made).toEqual([{ slug: facts.link, has_password: true, max_downloads: 3 }])
  expect((await parsed(bin, '/api/v1/bin')).data).toHaveLength(1)

  for (const { slug, text } of [facts.open, facts.closed])
    expect(await (await get(`/d/${slug}?download=1`, owner)).text()).toBe(text)
  expect(await (await get(`/d/${facts.open.slug}?download=1`)).text()).toBe(facts.open.text)
  expect((await get(`/d/${facts.closed.slug}?download=1`)).status).toBe(404)
  expect((await get(`/d/${facts.binned}?download=1`)).status).toBe(404)
  expect((await get(`/f/${facts.folders.closed}`)).status).toBe(404)
  expect(await (await get(`/f/${facts.folders.locked}`)).text()).not.toContain('behind.txt')
  expect((await get(`/l/${facts.link}`)).ok).toBe(true)
  expect(await (await get(`/api/v1/receipt/${facts.guest.receipt}`)).text()).toContain(facts.guest.slug)

  const form = new FormData()
  form.set('file', new File(['after the upgrade'], 'new.txt'))
  const uploaded = await get('/api/v1/upload', { method: 'POST', ...owner, body: form })
  expect(uploaded.status).toBe(200)
  await server.stop()
  const check = await holdfast(dataDir, ['check', '--read-data'], {
    HOLDFAST_DATA_DIR: dataDir,
    ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [`HOLDFAST_${name}`, value])),
  })
  expect(check.code, check.output + check.errors).toBe(0)
}
