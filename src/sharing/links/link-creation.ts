import { type AccountCaller, assertScope } from '../../core/callers.ts'
import { countTry } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database } from '../../database/database.ts'
import { isUniqueViolation, lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { assertMayWiden, GUEST_REACH, type Reach } from '../../domain/access.ts'
import { type Clock, DAY, HOUR } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import {
  type FileId,
  type FileIdentifier,
  type FolderId,
  type FolderIdentifier,
  GUESTS,
  type LinkSlug,
} from '../../domain/ids.ts'
import { parseLinkSlug, slugSkeleton } from '../../domain/link-slug.ts'
import { makeLinkSlug, type Random } from '../../domain/random.ts'
import { ownFolder } from '../../files/folders/places.ts'
import { ownFile } from '../../files/own-file.ts'
import type { LinkReading, OwnLink } from './link-reading.ts'
import { columnsOf, hashOf, type LinkTerms } from './link-terms.ts'
import { newUploads } from './link-uploads.ts'
import { countLiveLinks, insertLink, type LinkContent } from './links.rows.ts'

/** With `uploads`, the link takes uploads into its one folder and opens nothing. */
export interface WantedLink extends LinkTerms {
  readonly files: readonly FileIdentifier[]
  readonly folders: readonly FolderIdentifier[]
  /** Null for an unguessable one. */
  readonly slug: string | null
}

export interface LinkCreation {
  /**
   * Throws Refusal FILE_NOT_FOUND, FOLDER_NOT_FOUND, INVALID_NAME, DUPLICATE_NAME when the slug or a lookalike is
   * taken, RATE_LIMITED, SCOPE_MISSING, or INVALID_REQUEST for an end in the past or too many links.
   */
  make(caller: AccountCaller, wanted: WantedLink): Promise<OwnLink>
  /**
   * Links guests' files; `bucket` is the guest's address. `files` is called only when the limits allow
   * another link. Throws Refusal RATE_LIMITED or INVALID_REQUEST.
   */
  makeForGuest(
    bucket: string,
    terms: Omit<LinkTerms, 'uploads'>,
    files: () => Promise<ReadonlySet<FileId>>,
  ): Promise<OwnLink>
}

const MOST_LINKS = 10_000
/** Per day: each leaves a row, even when revoked. */
const NEW_LINKS = 2000
/** Guests' links: per address and day, and in total per hour, which one sender may use up. */
const NEW_GUEST_LINKS = 200
const NEW_LINKS_OF_GUESTS = 2000
const TOO_MANY_TODAY = 'Too many new links today; wait a while and try again'
const NO_TERMS = { name: null, message: null, ends_at: null, max_downloads: null }

interface NewLink {
  readonly columns: ReturnType<typeof columnsOf>
  readonly password: string | null | undefined
  readonly content: LinkContent
}

export function createLinkCreation(
  db: Database,
  reading: LinkReading,
  rates: RateLimits,
  clock: Clock,
  random: Random,
): LinkCreation {
  async function contentOf(
    caller: AccountCaller,
    { files, folders, uploads, maxDownloads = null }: WantedLink,
  ): Promise<LinkContent> {
    const targets = { files: new Set<FileId>(), folders: new Set<FolderId>() }
    for (const file of files) targets.files.add((await ownFile(db, caller, file)).id)
    for (const folder of folders) targets.folders.add((await ownFolder(db, caller, folder)).id)
    if (uploads === undefined) return { targets }
    assertScope(caller, 'upload')
    const [folder_id] = targets.folders
    if (
      folder_id === undefined ||
      targets.folders.size > 1 ||
      targets.files.size > 0 ||
      maxDownloads !== null
    ) {
      throw new Refusal(
        'INVALID_REQUEST',
        '"uploads": such a link has one folder, no files and no "max_downloads"',
      )
    }
    return { uploads: newUploads(folder_id, uploads) }
  }

  async function make(
    reach: Reach,
    slug: LinkSlug,
    { columns, password, content }: NewLink,
  ): Promise<OwnLink> {
    const password_hash = (await hashOf(password)) ?? null
    await refusingTaken(slug, () =>
      inTransaction(db, async (trx) => {
        if (reach.account !== GUESTS) {
          await lockAccount(trx, reach.account)
          if ((await countLiveLinks(trx, reach.account, clock.now())) >= MOST_LINKS) throw tooMany()
        }
        const row = { account_id: reach.account, slug, slug_look: slugSkeleton(slug) }
        const rest = { ...NO_TERMS, ...columns, password_hash, created_at: clock.now() }
        await insertLink(trx, { ...row, ...rest }, content)
      }),
    )
    return reading.get(reach, slug)
  }

  return {
    async make(caller, wanted) {
      assertMayWiden(caller)
      const { slug, password } = wanted
      const columns = columnsOf(wanted, clock.now())
      const chosen = slug === null ? makeLinkSlug(random) : parseLinkSlug(slug)
      const content = await contentOf(caller, wanted)
      const windows = [{ subject: `new-links:${caller.account}`, limit: NEW_LINKS, length: DAY }]
      await countTry(rates, windows, TOO_MANY_TODAY)
      return make(caller, chosen, { columns, password, content })
    },

    async makeForGuest(bucket, terms, files) {
      const columns = columnsOf(terms, clock.now())
      const windows = [
        { subject: `new-links-of:${bucket}`, limit: NEW_GUEST_LINKS, length: DAY },
        { subject: `new-links:${GUESTS}`, limit: NEW_LINKS_OF_GUESTS, length: HOUR },
      ]
      await countTry(rates, windows, TOO_MANY_TODAY)
      const targets = { files: await files(), folders: new Set<FolderId>() }
      const { password } = terms
      return make(GUEST_REACH, makeLinkSlug(random), { columns, password, content: { targets } })
    },
  }
}

async function refusingTaken<T>(slug: LinkSlug, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new Refusal('DUPLICATE_NAME', `"slug": a link "${slug}", or one that looks like it, already exists`)
  }
}

function tooMany(): Refusal {
  return new Refusal('INVALID_REQUEST', `An account has ${MOST_LINKS} links at most; revoke some first`)
}
