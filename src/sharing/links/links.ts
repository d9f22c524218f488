import { type AccountCaller, assertScope } from '../../core/callers.ts'
import { noteChange } from '../../core/changes.rows.ts'
import {
  countEvents,
  dropOldEvents,
  type LinkEventRow,
  listEvents,
  lockOwner,
  noteEnd,
  type OwnedLink,
} from '../../core/link-events.rows.ts'
import { pageAtOneMoment } from '../../core/pages-at-one-moment.ts'
import { countTry } from '../../core/rate-limits/attempts.ts'
import type { RateLimits } from '../../core/rate-limits/rate-limits.ts'
import type { Database, Trx } from '../../database/database.ts'
import { isUniqueViolation, lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import {
  type Actor,
  assertMayWiden,
  GUEST_REACH,
  type LinkLimits,
  mayWiden,
  opensLink,
  type Reach,
} from '../../domain/access.ts'
import { type Clock, DAY, HOUR } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { EndReason } from '../../domain/event-kinds.ts'
import { parseFolderName } from '../../domain/folder-name.ts'
import {
  type FileId,
  type FileIdentifier,
  type FolderId,
  type FolderIdentifier,
  GUESTS,
  type LinkId,
  type LinkSlug,
} from '../../domain/ids.ts'
import { isLinkSlug, parseLinkSlug, slugSkeleton } from '../../domain/link-slug.ts'
import { makeLinkSlug, type Random } from '../../domain/random.ts'
import type { UploadTerms } from '../../domain/upload-terms.ts'
import type { FileListRow } from '../../files/file-lists.rows.ts'
import { ownFile } from '../../files/files.ts'
import { type FolderListRow, findFolder, folderById } from '../../files/folders/folders.rows.ts'
import { updateFolder } from '../../files/folders/folders.ts'
import { ownFolder } from '../../files/folders/places.ts'
import {
  hasTerms,
  type TransferState,
  transferOfLink,
  transferStates,
  updateTransfer,
} from '../../files/transfers.rows.ts'
import {
  type LinkUsageAndReceived,
  listContributions,
  uploadLinks,
  usageOfLinks,
} from '../../uploads/contributions.rows.ts'
import { dropEmptyGuestLinks, giveLeftLinks } from '../../uploads/guest-links.rows.ts'
import { linkIsOver } from '../../uploads/receipts.ts'
import { abandonUploadsOfLink } from '../../uploads/resumable/concatenation.ts'
import {
  assertTermsFit,
  columnsOf,
  hashOf,
  type LinkTerms,
  newUploads,
  transferColumns,
  uploadColumns,
} from './link-terms.ts'
import {
  countLinks,
  countLiveLinks,
  dropExpiredLinks,
  insertLink,
  type LinkContent,
  type LinkListRow,
  type LinkSelection,
  linkById,
  listLinks,
  targetFiles,
  targetFolders,
  updateLink,
  updateLinkUploads,
} from './links.rows.ts'

export interface ListedLink extends LinkListRow {
  readonly uploads: { readonly terms: UploadTerms; readonly taken: LinkUsageAndReceived } | null
  readonly transferState: TransferState | null
}

export interface OwnLink {
  readonly link: ListedLink
  readonly files: readonly FileListRow[]
  readonly folders: readonly FolderListRow[]
}

export interface LinkQuery {
  readonly page: number
  readonly perPage: number
  readonly file: FileIdentifier | null
  readonly folder: FolderIdentifier | null
}

/** Newest first. */
export interface LinkLog {
  readonly events: readonly LinkEventRow[]
  readonly total: number
}

/** With `uploads`, the link takes uploads into its one folder and opens nothing. */
export interface WantedLink extends LinkTerms {
  readonly files: readonly FileIdentifier[]
  readonly folders: readonly FolderIdentifier[]
  /** Null for an unguessable one. */
  readonly slug: string | null
}

export const MOST_LINKS = 10_000
/** Per day: each leaves a row, even when revoked. */
export const NEW_LINKS = 2000
/** Guests' links: per address and day, and in total per hour, which one sender may use up. */
const NEW_GUEST_LINKS = 200
const NEW_LINKS_OF_GUESTS = 2000
export const TOO_MANY_TODAY = 'Too many new links today; wait a while and try again'
const NO_TERMS = { name: null, message: null, ends_at: null, max_downloads: null }

/** A slug that was sent around is not reused before. */
const KEPT_FOR = 90 * DAY
const STEP = 100

const NOTHING_TAKEN: LinkUsageAndReceived = { files: 0, size: 0, received: { files: 0, size: 0 } }

interface NewLink {
  readonly columns: ReturnType<typeof columnsOf>
  readonly password: string | null | undefined
  readonly content: LinkContent
}

export type Links = ReturnType<typeof createLinks>

/** Out of a restricted caller's folder, links are LINK_NOT_FOUND, like missing ones: all targets must lie in it. */
export function createLinks(db: Database, rates: RateLimits, clock: Clock, random: Random) {
  async function selectionOf(reach: Reach): Promise<LinkSelection> {
    const { account, within } = reach
    return { account, within: within === null ? null : (await ownFolder(db, reach, within)).id }
  }

  async function listed(selection: LinkSelection, offset: number, limit: number): Promise<ListedLink[]> {
    const rows = await listLinks(db, selection, offset, limit)
    const ids = rows.flatMap(({ id, uploads_into }) => (uploads_into === null ? [] : [id]))
    const [uploads, taken] = [await uploadLinks(db, ids), await usageOfLinks(db, ids)]
    const transfers = await transferStates(
      db,
      rows.flatMap(({ transfer }) => transfer ?? []),
    )
    return rows.map((row) => {
      const terms = uploads.get(row.id)?.terms
      const usage = terms === undefined ? null : { terms, taken: taken.get(row.id) ?? NOTHING_TAKEN }
      const transferState = row.transfer === null ? null : (transfers.get(row.transfer) ?? null)
      return { ...row, uploads: usage, transferState }
    })
  }

  async function find(reach: Reach, slug: string): Promise<ListedLink> {
    if (!isLinkSlug(slug)) throw linkNotFound()
    const [link] = await listed({ ...(await selectionOf(reach)), slug }, 0, 1)
    if (link === undefined) throw linkNotFound()
    return link
  }

  async function withTargets(link: ListedLink): Promise<OwnLink> {
    const { id, uploads_into: into } = link
    if (into === null) return { link, files: await targetFiles(db, id), folders: await targetFolders(db, id) }
    const folder = await findFolder(db, into)
    return { link, files: [], folders: folder === undefined ? [] : [folder] }
  }

  /** Throws Refusal LINK_NOT_FOUND. */
  const get = async (reach: Reach, slug: string) => withTargets(await find(reach, slug))

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
    return get(reach, slug)
  }

  return {
    get,

    /** Newest first. Throws Refusal FILE_NOT_FOUND or FOLDER_NOT_FOUND. */
    async list(reach: Reach, { page, perPage, file, folder }: LinkQuery) {
      const selection = {
        ...(await selectionOf(reach)),
        ...(file === null ? {} : { file: (await ownFile(db, reach, file)).id }),
        ...(folder === null ? {} : { folder: (await ownFolder(db, reach, folder)).id }),
      }
      const { rows, total } = await pageAtOneMoment(
        async () => ({ total: await countLinks(db, selection) }),
        () => listed(selection, (page - 1) * perPage, perPage),
      )
      return { links: rows, total }
    },

    /** Newest first, including running uploads. Throws Refusal LINK_NOT_FOUND. */
    async contributions(reach: Reach, slug: string, page: number, perPage: number) {
      const { id, uploads } = await find(reach, slug)
      const found = await listContributions(db, id, (page - 1) * perPage, perPage)
      return { contributions: found, total: uploads?.taken.files ?? 0 }
    },

    /** Throws Refusal LINK_NOT_FOUND. */
    async log(reach: Reach, slug: string, page: number, perPage: number): Promise<LinkLog> {
      const { id } = await find(reach, slug)
      const { rows, total } = await pageAtOneMoment(
        async () => ({ total: await countEvents(db, id) }),
        () => listEvents(db, id, (page - 1) * perPage, perPage),
      )
      return { events: rows, total }
    },

    /**
     * Throws Refusal FILE_NOT_FOUND, FOLDER_NOT_FOUND, INVALID_NAME, DUPLICATE_NAME when the slug or a lookalike is
     * taken, RATE_LIMITED, SCOPE_MISSING, or INVALID_REQUEST for an end in the past or too many links.
     */
    async make(caller: AccountCaller, wanted: WantedLink): Promise<OwnLink> {
      assertMayWiden(caller)
      const { slug, password } = wanted
      const columns = columnsOf(wanted, clock.now())
      const chosen = slug === null ? makeLinkSlug(random) : parseLinkSlug(slug)
      const content = await contentOf(caller, wanted)
      const windows = [{ subject: `new-links:${caller.account}`, limit: NEW_LINKS, length: DAY }]
      await countTry(rates, windows, TOO_MANY_TODAY)
      return make(caller, chosen, { columns, password, content })
    },

    /**
     * Links guests' files; `bucket` is the guest's address. `files` is called only when the limits allow
     * another link. Throws Refusal RATE_LIMITED or INVALID_REQUEST.
     */
    async makeForGuest(
      bucket: string,
      terms: Omit<LinkTerms, 'uploads'>,
      files: () => Promise<ReadonlySet<FileId>>,
    ): Promise<OwnLink> {
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

    /** Throws as `make` does, and Refusal LINK_NOT_FOUND, also for a revoked link. */
    async change(reach: Actor, slug: string, terms: LinkTerms): Promise<OwnLink> {
      const link = await find(reach, slug)
      const { id, account_id: account, revoked_at, uploads_into: into, transfer } = link
      if (revoked_at !== null) throw new Refusal('LINK_NOT_FOUND', 'This link was revoked; make another one')
      assertTermsFit(terms, { takesUploads: into !== null, isTransfer: transfer !== null })
      const password_hash = await hashOf(terms.password)
      const uploads = terms.uploads === undefined ? {} : uploadColumns(terms.uploads)
      const columns = {
        ...columnsOf(terms, clock.now(), link.ends_at),
        ...(password_hash === undefined ? {} : { password_hash }),
      }
      await inTransaction(db, async (trx) => {
        await (transfer === null ? lockOwner : lockAccount)(trx, account)
        if (!mayWiden(reach) && opensLink(await limitsOf(trx, id), { ...terms, password: password_hash }))
          assertMayWiden(reach)
        if (Object.keys(columns).length > 0) await updateLink(trx, { id, account }, columns)
        if (Object.keys(uploads).length > 0) await updateLinkUploads(trx, id, uploads)
        if (transfer !== null) {
          await updateTransfer(trx, transfer, transferColumns(terms.transfer ?? {}, clock.now()))
          await followLink(trx, id)
        }
      })
      return get(reach, slug)
    },

    /** In force at once on every node, and aborts running uploads. Throws Refusal LINK_NOT_FOUND. */
    async revoke(reach: Reach, slug: string): Promise<void> {
      const { id, account_id: account, revoked_at, ends_at, uploads_into: into } = await find(reach, slug)
      const now = clock.now()
      // A pending end by time takes precedence.
      const reason = ends_at !== null && ends_at <= now ? 'time' : 'revoked'
      if (revoked_at === null) await inTransaction(db, (trx) => revokeNow(trx, { id, account }, reason, now))
      if (into !== null) await abandonUploadsOfLink(db, id, now)
    },

    async forgetOld(mayGoOn: () => boolean = () => true): Promise<void> {
      const before = clock.now() - KEPT_FOR
      while (mayGoOn() && (await dropExpiredLinks(db, before, STEP)) === STEP);
      while (mayGoOn() && (await giveLeftLinks(db, STEP)) === STEP);
      while (mayGoOn() && (await dropEmptyGuestLinks(db, before, STEP)) === STEP);
      while (mayGoOn() && (await dropOldEvents(db, before, STEP)) === STEP);
    },
  }
}

/** Read in the transaction: the owner may have narrowed them since the request began. */
async function limitsOf(trx: Trx, id: LinkId): Promise<LinkLimits> {
  const link = await linkById(trx, id)
  if (link === undefined || link.revoked_at !== null) throw linkNotFound()
  return {
    endsAt: link.ends_at,
    maxDownloads: link.max_downloads,
    hasPassword: link.password_hash !== null,
  }
}

async function revokeNow(trx: Trx, link: OwnedLink, reason: EndReason, now: number): Promise<void> {
  await lockOwner(trx, link.account)
  await updateLink(trx, link, { revoked_at: now })
  await followLink(trx, link.id)
  await noteEnd(trx, link, reason, now)
}

/**
 * The folder of a transfer is public as long as its link is alive without terms: others would go around these. It is
 * public again without them, unless its account has made it private. Call in the transaction that changes the link.
 */
async function followLink(trx: Trx, id: LinkId): Promise<void> {
  const transfer = await transferOfLink(trx, id)
  const link = await linkById(trx, id)
  if (transfer === undefined || link === undefined) return
  const { folder_id } = transfer
  const { account_id, identifier, parent_id: place, is_public, name } = await folderById(trx, folder_id)
  const isOpen = link.revoked_at === null && !(await hasTerms(trx, folder_id))
  // A guest's folder has its link's name; an account may have called its own otherwise.
  const wanted = account_id === GUESTS ? transferFolderName(link.name) : name
  const closes = !isOpen && is_public === 1
  const opens = isOpen && is_public === 0 && transfer.opens_again === 1
  if (!closes && !opens && wanted === name) return
  await updateFolder(trx, folder_id, {
    ...(wanted === name ? {} : { name: wanted }),
    ...(closes ? { is_public: 0 } : {}),
    ...(opens ? { is_public: 1 } : {}),
  })
  if (closes || opens) await updateTransfer(trx, folder_id, { opens_again: closes ? 1 : 0 })
  await noteChange(trx, account_id, { kind: 'folder.changed', folder: identifier, place })
}

/** A folder's name for a transfer's, which may hold slashes and line breaks. */
export function transferFolderName(name: string | null): string {
  const plain = (name ?? '').replace(/[/\\\p{Cc}]+/gu, ' ').trim()
  return parseFolderName(plain === '' || plain === '.' || plain === '..' ? UNNAMED_TRANSFER : plain)
}

const UNNAMED_TRANSFER = 'Transfer'

async function refusingTaken<T>(slug: LinkSlug, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new Refusal('DUPLICATE_NAME', `"slug": a link "${slug}", or one that looks like it, already exists`)
  }
}

export function tooMany(): Refusal {
  return new Refusal('INVALID_REQUEST', `An account has ${MOST_LINKS} links at most; revoke some first`)
}

export function linkNotFound(): Refusal {
  return new Refusal('LINK_NOT_FOUND', 'There is no such link')
}

/** Per address and hour: hashing a password costs work. */
const CHANGES = 200

/** Authorized by receipts. Throw Refusal NOT_FOUND for a link that is gone, revoked, or an account's. */
export function createGuestLinks(
  db: Database,
  rates: RateLimits,
  links: Pick<Links, 'get' | 'change' | 'log'>,
) {
  async function slugOf(id: LinkId): Promise<LinkSlug> {
    const link = await linkById(db, id)
    if (link === undefined || link.account_id !== GUESTS || link.revoked_at !== null) throw linkIsOver()
    return link.slug
  }

  return {
    get: async (link: LinkId) => links.get(GUEST_REACH, await slugOf(link)),

    /** `bucket`: the client's address. Also throws Refusal INVALID_REQUEST or RATE_LIMITED. */
    async change(link: LinkId, bucket: string, terms: Omit<LinkTerms, 'uploads'>): Promise<OwnLink> {
      const slug = await slugOf(link)
      const windows = [{ subject: `link-changes-of:${bucket}`, limit: CHANGES, length: HOUR }]
      await countTry(rates, windows, 'Too many changes from this address; wait a while and try again')
      return links.change(GUEST_REACH, slug, terms)
    },

    log: async (link: LinkId, page: number, perPage: number) =>
      links.log(GUEST_REACH, await slugOf(link), page, perPage),
  }
}
