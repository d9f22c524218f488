/** `holdfast backup` and `restore` with PostgreSQL and buckets on either side. */
// Only in test:all: PostgreSQL and a store; backup.test.ts has the rest in the whole run.
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  checked,
  doneIn,
  isThere,
  made,
  restored,
  type Settings,
} from '../../../support/operations/commands.ts'
import { startChild, temporaryFolder } from '../../../support/processes/child.ts'
import { onSharedServers, sharedInstallation } from '../../../support/servers/shared-installation.ts'
import { newBucket } from '../../../support/storage/ceph.ts'

const folder = temporaryFolder()
let places = 0
afterAll(() => folder[Symbol.dispose]())

onSharedServers('a backup of nodes', () => {
  test('goes from PostgreSQL and a bucket to a bucket, to a folder, and back again', async () => {
    await using source = await sharedInstallation()
    await using node = await source.startNode()
    const slugs: string[] = []
    for (let at = 0; at < 12; at++) {
      const answer = await fetch(`${node.url}/${at}.txt`, {
        method: 'PUT',
        body: `text ${at}`.repeat(at * 999),
      })
      slugs.push((await answer.text()).trim().split('/').at(-1) ?? '')
    }
    const prefixed = (settings: Settings) =>
      Object.fromEntries(Object.entries(settings).map(([name, value]) => [`HOLDFAST_${name}`, value]))
    const its = prefixed(source.settings)
    const bucket = await newBucket(undefined)
    const target = `${bucket.endpoint}/${bucket.bucket}`
    const key = {
      HOLDFAST_BACKUP_S3_ACCESS_KEY_ID: bucket.accessKeyId,
      HOLDFAST_BACKUP_S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
    }
    const inBucket = [target, '--s3-path-style', '--s3-region', bucket.region]
    const first = await doneIn(folder.path, ['backup', ...inBucket], made, { ...its, ...key })
    expect(first).toMatchObject({ files: 12, damaged: [] })
    expect(
      await doneIn(folder.path, ['backup', ...inBucket, '--keep-daily', '1'], made, { ...its, ...key }),
    ).toMatchObject({
      copied_contents: 0,
      dropped_points: 1,
    })

    const place = join(folder.path, String(++places))
    await doneIn(folder.path, ['restore', ...inBucket], restored, { ...key, HOLDFAST_DATA_DIR: place })
    await using onFolder = await startChild(place)
    for (const [at, slug] of slugs.entries()) {
      expect(await isThere(onFolder.url, slug)).toBe(`text ${at}`.repeat(at * 999))
    }
    const copy = join(folder.path, String(++places))
    await doneIn(folder.path, ['backup', copy], made, { HOLDFAST_DATA_DIR: place })
    await using other = await sharedInstallation()
    await doneIn(folder.path, ['restore', copy], restored, prefixed(other.settings))
    const sound = await doneIn(folder.path, ['check', '--read-data'], checked, prefixed(other.settings))
    expect(sound).toMatchObject({ checked_files: 12, damaged: [], orphans: [], sums: [] })
    await using back = await other.startNode()
    expect(await isThere(back.url, slugs[3] ?? '')).toBe('text 3'.repeat(3 * 999))
  }, 180_000)
})
