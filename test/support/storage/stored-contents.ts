/** The stored bytes of files, behind the servers' back. */

import { type SqlBool, sql } from 'kysely'
import { systemClock } from '../../../src/domain/clock.ts'
import type { BlobId, BlobKey } from '../../../src/domain/ids.ts'
import { systemRandom } from '../../../src/domain/random.ts'
import { openBlobs } from '../../../src/storage.ts'
import type { TestHoldfast } from '../servers/holdfast.ts'
import { bytesOf } from './blob-chunks.ts'

export function storeOf({ config }: Pick<TestHoldfast, 'config'>) {
  return openBlobs({ config, clock: systemClock, random: systemRandom, report() {} }, false)
}

export async function contentOf(
  { database }: Pick<TestHoldfast, 'database'>,
  slug: string,
): Promise<{ id: BlobId; key: BlobKey }> {
  return database
    .selectFrom('files')
    .innerJoin('blobs', 'blobs.id', 'files.blob_id')
    .select(['blobs.id', 'blobs.key'])
    .where(sql<SqlBool>`files.slug = ${slug}`)
    .executeTakeFirstOrThrow()
}

/** Another byte in the middle of the content; a second time brings the first one back. */
export async function flipByte(host: Pick<TestHoldfast, 'config'>, key: BlobKey): Promise<void> {
  const blobs = await storeOf(host)
  const size = (await blobs.size(key)) ?? 0
  const bytes = await bytesOf(await blobs.read(key, 0, size))
  bytes[size >> 1] = (bytes[size >> 1] ?? 0) ^ 1
  await blobs.remove(key)
  const writer = await blobs.create(key)
  await writer.write(bytes)
  await writer.complete()
}
