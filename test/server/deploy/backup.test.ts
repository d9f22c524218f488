import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { chance } from '../../support/chance.ts'
import { type Caller, caller, readBack, sha256 } from '../../support/clients/caller.ts'
import { addAccount, startChild, temporaryFolder } from '../../support/processes/child.ts'
import { finishedBlobs, inconsistencies } from '../../support/storage/blob-folder.ts'

test('what docs/operations/backup.md has copied beside a working server is a whole installation again', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const backup = join(folder.path, 'backup')
  mkdirSync(backup)
  const { apiKey } = await addAccount(dataDir, 'kept')
  const expected = new Map<string, string>()
  {
    await using server = await startChild(dataDir, { MIN_FREE_SPACE: '0' })
    const user = caller(server.url, apiKey)
    await uploadSome(user, 1, expected)

    const [firstBytes, rows, ...rest] = commands(dataDir, backup)
    firstBytes?.()
    // What rots after it was copied must not take the place of the good copy.
    const [rotten = ''] = finishedBlobs(backup)
    writeFileSync(join(dataDir, 'blobs', rotten.slice(0, 2), rotten), 'rotten')
    await uploadSome(user, 2, expected)
    // The same content again: its newer copy takes the place of the one that is in the backup already.
    await uploadSome(user, 1, expected)
    rows?.()
    await uploadSome(user, 3, new Map())
    for (const command of rest) command()
    await server.kill()
    expect(readFileSync(join(backup, 'blobs', rotten.slice(0, 2), rotten)).length).toBe(50_000)
  }
  expect(finishedBlobs(backup).length).toBeGreaterThan(expected.size)
  expect(inconsistencies(backup, { cleaned: false })).toEqual([])

  await using restored = await startChild(backup, { MIN_FREE_SPACE: '0' })
  const listed = await caller(restored.url, apiKey).files()
  expect(listed.map(({ slug }) => slug).sort()).toEqual([...expected.keys()].sort())
  for (const [slug, hash] of expected) expect((await readBack(restored.url, slug)).sha256).toBe(hash)
})

/** Five files whose contents follow from the seed. */
async function uploadSome(user: Caller, seed: number, uploaded: Map<string, string>): Promise<void> {
  const random = chance(seed)
  for (let file = 0; file < 5; file++) {
    const content = random.bytes(50_000)
    const { slug } = await user.upload(content, `file-${file}.bin`)
    uploaded.set(slug, sha256(content))
  }
}

/** The commands of the page for one machine, in their order, from and to folders of this test. */
function commands(dataDir: string, backup: string): (() => void)[] {
  const page = readFileSync(join(import.meta.dir, '../../../docs/operations/backup.md'), 'utf8')
  const block = page.split('```').find((each) => each.startsWith('sh\nrsync')) ?? ''
  const here = (path: string) =>
    path
      .replace('/var/lib/holdfast', dataDir)
      .replace('backup:holdfast', backup)
      .replace(/^\/var\/backups/, backup)
  const found = block.split('\n').slice(1, -1)
  expect(found.length).toBeGreaterThan(3)
  return found.map((line) => () => {
    if (line.startsWith('sqlite3')) return vacuumInto(dataDir, backup)
    const words = line.split(' ').slice(1)
    const isOption = (word: string) => word.startsWith('--')
    const excluded = words.flatMap((word) => /^--exclude=\/(.*)$/.exec(word)?.[1] ?? [])
    const places = words.filter((word) => !isOption(word)).map(here)
    for (const from of places.slice(0, -1)) {
      if (from.startsWith('/etc/') || from.startsWith(backup)) continue
      const into = places.at(-1) ?? ''
      rsync(
        from,
        from.endsWith('/') ? into : join(into, basename(from)),
        words.includes('--ignore-existing'),
        excluded,
      )
    }
  })
}

/** As `rsync --archive` does it, which is not on every machine that tests. */
function rsync(from: string, to: string, ignoreExisting: boolean, excluded: readonly string[]): void {
  cpSync(from, to, {
    recursive: true,
    force: !ignoreExisting,
    filter: (path) => !excluded.some((name) => resolve(path) === join(resolve(from), name)),
  })
}

function vacuumInto(dataDir: string, backup: string): void {
  using database = new Database(join(dataDir, 'holdfast.sqlite'))
  database.run('vacuum into ?', [join(backup, 'holdfast.sqlite')])
}
