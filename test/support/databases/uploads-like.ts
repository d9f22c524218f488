/** Many uploads at once, by rows, where to start each by a request would take long. */
import { hashToken } from '../../../src/core/hmac.ts'
import { parseSlug } from '../../../src/domain/ids.ts'
import { makeBlobKey, makeSlug, makeUuid, systemRandom } from '../../../src/domain/random.ts'
import type { TestHoldfast } from '../servers/holdfast.ts'

/** Rows of one statement: each has some thirty values. */
const STEP = 100

/** So many rows as that of the upload `like`, as many from each origin, where one is given, last used at `usedAt`. */
export async function addUploadsLike(
  { database }: Pick<TestHoldfast, 'database'>,
  like: string,
  count: number,
  origins: readonly Partial<{ network: string | null; subnet: string | null; address: string }>[],
  usedAt: (number: number) => number,
): Promise<void> {
  const row = await database
    .selectFrom('uploads')
    .selectAll()
    .where('slug', '=', parseSlug(like))
    .executeTakeFirstOrThrow()
  const { id, ...common } = row
  const each = count / origins.length
  const rows = origins.flatMap((origin, place) =>
    Array.from({ length: each }, (_, number) => ({
      ...common,
      ...origin,
      token_hash: hashToken(`${place} ${number}`),
      slug: makeSlug(systemRandom),
      uuid: makeUuid(systemRandom),
      key: makeBlobKey(systemRandom),
      name: `${place}`,
      used_at: usedAt(place * each + number),
    })),
  )
  for (let at = 0; at < rows.length; at += STEP) {
    await database
      .insertInto('uploads')
      .values(rows.slice(at, at + STEP))
      .execute()
  }
}
