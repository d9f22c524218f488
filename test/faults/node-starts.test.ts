// Only in test:all: many starts of nodes.
import { expect, test } from 'bun:test'
import { chance } from '../support/chance.ts'
import { caller, readBack, sha256 } from '../support/clients/caller.ts'
import { createDatabase } from '../support/databases/postgres.ts'
import { type ChildSettings, launchChild, temporaryFolder } from '../support/processes/child.ts'
import {
  onSharedServers,
  sharedInstallation,
  WITHOUT_BUCKET,
} from '../support/servers/shared-installation.ts'

const random = chance(92)

onSharedServers('nodes', () => {
  test('that start at the same moment on an empty database and a missing bucket all come up', async () => {
    await using empty = new AsyncDisposableStack()
    const { url } = empty.adopt(await createDatabase(), (database) => database.drop())
    await using installation = await sharedInstallation({ databaseUrl: url })
    const nodes = await Promise.all(Array.from({ length: 3 }, () => installation.startNode()))
    const alice = await installation.addAccount('alice')
    const content = random.bytes(50_000)
    for (const uploading of nodes) {
      const { slug } = await caller(uploading.url, alice.apiKey).upload(content, 'file.bin')
      for (const reading of nodes) {
        expect(await readBack(reading.url, slug)).toEqual({ size: content.length, sha256: sha256(content) })
      }
    }
    const versions = await installation.database
      .selectFrom('meta')
      .select('key')
      .where('key', 'in', ['version', 'store_mark', 'link_secret'])
      .execute()
    expect(versions).toHaveLength(3)
    for (const node of nodes) await node.stop()
    expect(await installation.database.selectFrom('nodes').select('id').execute()).toEqual([])
  })

  test('on PostgreSQL may share a folder', async () => {
    await using installation = await sharedInstallation()
    const nodes = await Promise.all([
      installation.startNode(WITHOUT_BUCKET),
      installation.startNode(WITHOUT_BUCKET),
    ])
    const alice = await installation.addAccount('alice')
    const contents = Array.from({ length: 8 }, () => random.bytes(100_000))
    const uploads = await Promise.all(
      contents.map((content, at) =>
        caller(nodes[at % 2]?.url ?? '', alice.apiKey).upload(content, `${at}.bin`),
      ),
    )
    for (const [at, { slug }] of uploads.entries()) {
      for (const { url } of nodes) {
        expect(await readBack(url, slug)).toMatchObject({ sha256: sha256(contents[at] ?? new Uint8Array()) })
      }
    }
    for (const node of nodes) await node.stop()
  })
  test('on PostgreSQL with a folder that the others do not have are told what to do', async () => {
    await using installation = await sharedInstallation()
    await using _ = await installation.startNode(WITHOUT_BUCKET)
    using elsewhere = temporaryFolder()
    const settings = { ...installation.settings, ...WITHOUT_BUCKET }
    expect(await refusal(elsewhere.path, settings)).toContain(
      'the store that is configured is not the one in which this database keeps its files; is its folder mounted? Configure that one, or move the files with "holdfast relocate"',
    )
    // A bucket is another store too.
    expect(await refusal(elsewhere.path, installation.settings)).toContain('Configure that one')
  })

  test('with a database of their own on the bucket of others are told what to do', async () => {
    await using installation = await sharedInstallation()
    await using node = await installation.startNode()
    using elsewhere = temporaryFolder()
    const withSqlite = { ...installation.settings, DATABASE_URL: '' }
    expect(await refusal(elsewhere.path, withSqlite)).toContain(
      'the store that is configured belongs to another database; configure that database, or an empty store',
    )
    await using other = await sharedInstallation()
    const withPostgres = { ...installation.settings, DATABASE_URL: other.settings.DATABASE_URL ?? '' }
    expect(await refusal(elsewhere.path, withPostgres)).toContain('belongs to another database')
    expect((await fetch(`${node.url}/ready`)).status).toBe(200)
  })
})

/** What a node says that does not start. */
async function refusal(dataDir: string, settings: ChildSettings): Promise<string> {
  await using child = launchChild(dataDir, settings)
  child.listening.then(() => child.signal('SIGKILL')).catch(() => {})
  const { code } = await child.exited
  expect(code).toBe(1)
  return child.output()
}
