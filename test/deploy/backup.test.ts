import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { cpSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { finishedBlobs, inconsistencies } from '../support/blob-folder.ts'
import { type Caller, caller, readBack, sha256 } from '../support/caller.ts'
import { chance } from '../support/chance.ts'
import { addAccount, startChild, temporaryFolder } from '../support/child.ts'

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

    copyBlobs(dataDir, backup)
    await uploadSome(user, 2, expected)
    // The same content again: its newer copy takes the place of the one that is in the backup already.
    await uploadSome(user, 1, expected)
    vacuumInto(dataDir, backup)
    await uploadSome(user, 3, new Map())
    copyBlobs(dataDir, backup)
    await server.kill()
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

/** As `rsync --archive --exclude=/tmp`: adds and never deletes. */
function copyBlobs(dataDir: string, backup: string): void {
  const blobs = join(dataDir, 'blobs')
  cpSync(blobs, join(backup, 'blobs'), {
    recursive: true,
    force: false,
    filter: (path) => path === blobs || basename(path) !== 'tmp',
  })
}

function vacuumInto(dataDir: string, backup: string): void {
  using database = new Database(join(dataDir, 'holdfast.sqlite'))
  database.run('vacuum into ?', [join(backup, 'holdfast.sqlite')])
}
