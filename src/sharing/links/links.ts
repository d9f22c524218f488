import { type AccountCaller, assertScope } from '../../core/callers.ts'
import { hashPassword } from '../../core/password-hash.ts'
import { countTry } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database } from '../../database/database.ts'
import { isUniqueViolation, lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FileId, FileIdentifier, FolderId, FolderIdentifier, LinkSlug } from '../../domain/ids.ts'
import { lookOfSlug, parseLinkSlug } from '../../domain/link-slug.ts'
import { boundedNfc } from '../../domain/measured-text.ts'
import { makeLinkSlug, type Random } from '../../domain/random.ts'
import type { Reach } from '../../domain/reach.ts'
import type { UploadTerms } from '../../domain/upload-terms.ts'
import { ownFolder } from '../../files/folders/places.ts'
import { ownFile } from '../../files/own-file.ts'
import { giveUpOfLink } from '../../uploads/resumable/upload-endings.ts'
import { createLinkReading, type LinkReading, type OwnLink } from './link-reading.ts'
import { assertFits, newUploads, uploadColumns } from './link-uploads.ts'
import {
  countLiveLinks,
  dropLinksOver,
  insertLink,
  type LinkContent,
  updateLink,
  updateLinkUploads,
} from './links.rows.ts'

/** Terms of a link that its owner may change. Empty texts mean none. */
export interface LinkTerms {
  readonly name?: string | null
  readonly message?: string | null
  readonly password?: string | null
  /** Milliseconds since the epoch; null: no end. */
  readonly endsAt?: number | null
  /** null: any number. */
  readonly maxDownloads?: number | null
  /** Of a link that takes uploads; what is missing stays as it is. */
  readonly uploads?: Partial<UploadTerms>
}

/** With `uploads` it takes uploads into the one folder, and opens nothing. */
export interface WantedLink extends LinkTerms {
  readonly files: readonly FileIdentifier[]
  readonly folders: readonly FolderIdentifier[]
  /** null: an unguessable one. */
  readonly slug: string | null
}

/**
 * What owners do with their links. A caller who is kept to one folder sees the links whose targets all lie in it.
 * What is out of reach is LINK_NOT_FOUND, just as what is not there.
 */
export interface Links extends LinkReading {
  /**
   * Throws Refusal FILE_NOT_FOUND, FOLDER_NOT_FOUND, INVALID_NAME, DUPLICATE_NAME when the slug or one that looks
   * like it is taken, RATE_LIMITED, or INVALID_REQUEST for an end in the past or too many links.
   */
  make(caller: AccountCaller, wanted: WantedLink): Promise<OwnLink>
  /** Throws Refusal LINK_NOT_FOUND, also for a revoked link, and as `make` does. */
  change(reach: Reach, slug: string, terms: LinkTerms): Promise<OwnLink>
  /** In force at once, everywhere; what comes by it stops. Throws Refusal LINK_NOT_FOUND. */
  revoke(reach: Reach, slug: string): Promise<void>
  /** Deletes the rows of links that have been over for long. */
  forgetOld(mayGoOn?: () => boolean): Promise<void>
}

const LONGEST_NAME = 100
/** Claims of a link are counted whenever one is made. */
export const MOST_DOWNLOADS = 10_000
const LONGEST_MESSAGE = 2000
/** Links of an account that are neither revoked nor ended. */
const MOST_LINKS = 10_000
/** Links that an account may make in a day: each leaves a row, even when revoked. */
const NEW_LINKS = 2000
/** For which nobody else gets a slug that was sent around. */
const KEPT_FOR = 90 * DAY
const STEP = 100

export function createLinks(db: Database, rates: RateLimits, clock: Clock, random: Random): Links {
  const reading = createLinkReading(db)

  /** What the link opens or takes, as its owner may say it. */
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

  return {
    async make(caller, wanted) {
      const { slug, ...terms } = wanted
      const columns = columnsOf(terms, clock.now())
      const chosen = slug === null ? makeLinkSlug(random) : parseLinkSlug(slug)
      const content = await contentOf(caller, wanted)
      const windows = [{ subject: `new-links:${caller.account}`, limit: NEW_LINKS, length: DAY }]
      await countTry(rates, windows, 'Too many new links today; wait a while and try again')
      const password_hash = (await hashOf(terms.password)) ?? null
      await refusingTaken(chosen, () =>
        inTransaction(db, async (trx) => {
          await lockAccount(trx, caller.account)
          if ((await countLiveLinks(trx, caller.account, clock.now())) >= MOST_LINKS) throw tooMany()
          const row = { account_id: caller.account, slug: chosen, slug_look: lookOfSlug(chosen) }
          const rest = { ...NO_TERMS, ...columns, password_hash, created_at: clock.now() }
          await insertLink(trx, { ...row, ...rest }, content)
        }),
      )
      return reading.get(caller, chosen)
    },

    ...reading,

    async change(reach, slug, terms) {
      const { id, revoked_at, uploads_into: into } = await reading.find(reach, slug)
      if (revoked_at !== null) throw new Refusal('LINK_NOT_FOUND', 'This link was revoked; make another one')
      assertFits(terms, into !== null)
      const password_hash = await hashOf(terms.password)
      const uploads = terms.uploads === undefined ? {} : uploadColumns(terms.uploads)
      const columns = {
        ...columnsOf(terms, clock.now()),
        ...(password_hash === undefined ? {} : { password_hash }),
      }
      await inTransaction(db, async (trx) => {
        if (Object.keys(columns).length > 0) await updateLink(trx, id, columns)
        if (Object.keys(uploads).length > 0) await updateLinkUploads(trx, id, uploads)
      })
      return reading.get(reach, slug)
    },

    async revoke(reach, slug) {
      const { id, revoked_at, uploads_into: into } = await reading.find(reach, slug)
      const now = clock.now()
      if (revoked_at === null) await inTransaction(db, (trx) => updateLink(trx, id, { revoked_at: now }))
      if (into !== null) await giveUpOfLink(db, id, now)
    },

    async forgetOld(mayGoOn = () => true) {
      const before = clock.now() - KEPT_FOR
      while (mayGoOn() && (await dropLinksOver(db, before, STEP)) === STEP);
    },
  }
}

const NO_TERMS = { name: null, message: null, ends_at: null, max_downloads: null }

async function hashOf(password: string | null | undefined): Promise<string | null | undefined> {
  return typeof password === 'string' ? hashPassword(password) : password
}

/** The columns that the terms set, besides the password's. Throws Refusal INVALID_REQUEST. */
function columnsOf({ name, message, endsAt, maxDownloads }: LinkTerms, now: number) {
  if (typeof endsAt === 'number' && endsAt <= now) {
    throw new Refusal('INVALID_REQUEST', '"ends_at": must be in the future')
  }
  return {
    ...(name === undefined ? {} : { name: textOf('name', name, LONGEST_NAME) }),
    ...(message === undefined ? {} : { message: textOf('message', message, LONGEST_MESSAGE) }),
    ...(maxDownloads === undefined ? {} : { max_downloads: maxDownloads }),
    ...(endsAt === undefined ? {} : { ends_at: endsAt }),
  }
}

/** Control characters, and those that turn the direction of what stands beside them. */
const CONTROLS = {
  name: /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
  message: /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
} as const

function textOf(field: 'name' | 'message', text: string | null, most: number): string | null {
  const bounded = boundedNfc((text ?? '').trim(), most)
  if (bounded === null) {
    throw new Refusal('INVALID_REQUEST', `"${field}": may have ${most} characters at most`)
  }
  const clean = bounded.toWellFormed().replaceAll('\r\n', '\n').replace(CONTROLS[field], '')
  return clean === '' ? null : clean
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
