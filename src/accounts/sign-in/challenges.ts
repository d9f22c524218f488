import type * as z from 'zod'
import type { Core } from '../../core/core.ts'
import { hashToken } from '../../core/hmac.ts'
import type { Database, Queryable } from '../../database/database.ts'
import type { Row } from '../../database/schema.ts'
import type { Sha256 } from '../../domain/ids.ts'
import { type Browser, signInCookie } from './sessions.ts'

/**
 * Pending steps of sign-in flows. A cookie holds a secret; the row found by its hash holds the step. Any node
 * can accept the answer, once, until it expires.
 */
export interface Challenges<T> {
  begin(db: Queryable, content: T): Promise<string>
  /** Null when the browser has no challenge, or it has expired. */
  find(browser: Browser): Promise<T | null>
  /** Serializes concurrent changes. Returns the new content; null as in `find`. */
  change(browser: Browser, edit: (content: T) => T): Promise<T | null>
  /** Ends the challenge; null as in `find`, and when another request has ended it. */
  take(db: Queryable, browser: Browser): Promise<T | null>
  forget(): string
}

export interface ChallengeKind<T> {
  readonly name: string
  /** Milliseconds. */
  readonly lasts: number
  /** Must differ between kinds, so that no challenge is accepted as another kind. */
  readonly content: z.ZodType<T>
}

export type MakeChallenges = <T>(kind: ChallengeKind<T>) => Challenges<T>

export function createChallenges({
  db,
  clock,
  random,
  publicUrl,
}: Pick<Core, 'db' | 'clock' | 'random' | 'publicUrl'>): MakeChallenges {
  return ({ name, lasts, content }) => {
    const cookie = signInCookie(name, publicUrl)
    const hashOf = (browser: Browser) => hashToken(cookie.read(browser) ?? '')
    const read = (text: string | undefined) =>
      text === undefined ? null : (content.safeParse(JSON.parse(text)).data ?? null)

    return {
      async begin(trx, about) {
        const token = Buffer.from(random(24)).toString('base64url')
        const now = clock.now()
        await insertChallenge(trx, {
          identifier_hash: hashToken(token),
          value: JSON.stringify(about),
          created_at: now,
          expires_at: now + lasts,
        })
        return cookie.write(token, lasts)
      },

      find: async (browser) => read(await findChallenge(db, hashOf(browser), clock.now())),

      async change(browser, edit) {
        for (;;) {
          const now = clock.now()
          const before = await findChallenge(db, hashOf(browser), now)
          const found = read(before)
          if (before === undefined || found === null) return null
          const edited = edit(found)
          const after = JSON.stringify(edited)
          if (await swapChallenge(db, hashOf(browser), { before, after, now })) return edited
        }
      },

      take: async (trx, browser) => read(await takeChallenge(trx, hashOf(browser), clock.now())),

      forget: () => cookie.write('', 0),
    }
  }
}

type ChallengeRow = Omit<Row<'verifications'>, 'id' | 'updated_at'>

async function insertChallenge(db: Queryable, row: ChallengeRow): Promise<void> {
  await db
    .insertInto('verifications')
    .values({ ...row, updated_at: row.created_at })
    .execute()
}

async function findChallenge(db: Database, hash: Sha256, now: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('verifications')
    .select('value')
    .where('identifier_hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row?.value
}

/** Compare-and-swap; false when the value is no longer `before`, or the challenge has expired. */
async function swapChallenge(
  db: Database,
  hash: Sha256,
  { before, after, now }: { readonly before: string; readonly after: string; readonly now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('verifications')
    .set({ value: after, updated_at: now })
    .where('identifier_hash', '=', hash)
    .where('value', '=', before)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Of concurrent calls one gets the value. */
async function takeChallenge(db: Queryable, hash: Sha256, now: number): Promise<string | undefined> {
  const row = await db
    .deleteFrom('verifications')
    .where('identifier_hash', '=', hash)
    .returning(['value', 'expires_at'])
    .executeTakeFirst()
  return row === undefined || row.expires_at <= now ? undefined : row.value
}
