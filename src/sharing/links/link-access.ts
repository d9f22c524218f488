import * as z from 'zod'
import { findAccount } from '../../core/accounts.rows.ts'
import type { ContributorCaller } from '../../core/callers.ts'
import type { Core } from '../../core/core.ts'
import type { Signing } from '../../core/hmac.ts'
import type { Database } from '../../database/database.ts'
import type { LinkDownloader, LinkRights, Reach, Requester } from '../../domain/access.ts'
import { type Clock, MINUTE } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type {
  FileId,
  FolderId,
  LinkId,
  LinkProgram,
  LinkSlug,
  LinkVisitor,
  Slug,
  UploadId,
} from '../../domain/ids.ts'
import { isLinkSlug } from '../../domain/link-slug.ts'
import type { Random } from '../../domain/random.ts'
import { type SentContent, sentFiles } from '../../domain/sent-kinds.ts'
import { isFull, type UploadTerms } from '../../domain/upload-terms.ts'
import type { FileListRow } from '../../files/file-lists.rows.ts'
import { fileNotFound } from '../../files/files.ts'
import { type FolderListRow, findFolder } from '../../files/folders/folders.rows.ts'
import {
  isWhole,
  onlyFileOf,
  type TransferRow,
  transferOf,
  transferOfLink,
} from '../../files/transfers.rows.ts'
import { type Call, FOLDER_COOKIE } from '../../server/call.ts'
import { cookieValue } from '../../server/requests/browser.ts'
import { linkUsage, uploadLinkOf } from '../../uploads/contributions.rows.ts'
import { linkEnded } from '../../uploads/contributions.ts'
import { openUploadsOfTransfer } from '../../uploads/transfer-claims.rows.ts'
import { type UploadRow, uploadById } from '../../uploads/uploads.rows.ts'
import type { ClosedLock, FolderPasswords } from '../folder-passwords.ts'
import { type LinkSlots, linkUsedUp } from './link-slots.ts'
import {
  countLinks,
  type LinkRow,
  linkById,
  linkBySlug,
  linkTargets,
  targetFiles,
  targetFolders,
  typesIn,
} from './links.rows.ts'
import { linkNotFound } from './links.ts'

const PLACE_LIFETIME = 30 * MINUTE

/** Name of the whole link, in the place of a file's or folder's. */
export const WHOLE_LINK = 'all'

export type VisitedLink =
  | OpenLink
  | { readonly kind: 'locked'; readonly link: LinkRow; readonly closed: ClosedLock }

export interface OpenLink {
  readonly kind: 'open'
  readonly link: LinkRow
  readonly requester: LinkRequester
  readonly newName: string | null
  /** Idempotency value of the page's form, where downloads are limited: one value takes one slot. */
  readonly once: string
}

export type LinkRequester = Requester & { readonly link: LinkRights }

export interface SignedLink {
  readonly id: LinkId
  readonly passwordTag: string | null
  readonly visitor: LinkDownloader | null
  /** Past its end: valid only while its visitor reads a limited link by it. */
  readonly isLate: boolean
}

/** In the chosen order. */
export interface LinkTargets {
  readonly files: readonly FileListRow[]
  readonly folders: readonly FolderListRow[]
  /** The transfer of a link, as long as more may come. */
  readonly unfinished: Pick<
    TransferRow,
    'arrived_files' | 'arrived_bytes' | 'announced_files' | 'announced_bytes'
  > | null
}

export type LinkAccess = ReturnType<typeof createLinkAccess>

/** Access by links, decided from the row at every request by `decideAccess`. */
export function createLinkAccess(
  { db, signing, clock, random }: Pick<Core, 'db' | 'signing' | 'clock' | 'random'>,
  passwords: Pick<FolderPasswords, 'unlocks'>,
  claims: LinkSlots,
) {
  async function live(
    link: LinkRow | undefined,
    whose: (link: LinkRow) => Promise<KnownVisitor>,
  ): Promise<KnownVisitor & { readonly link: LinkRow }> {
    if (link === undefined || link.revoked_at !== null) throw linkNotFound()
    if (link.ends_at !== null && link.ends_at <= clock.now()) throw linkEnded()
    const { id, max_downloads: limit } = link
    const visitor = await whose(link)
    const { downloader } = visitor
    const mayDownload =
      limit === null || downloader === null || (await claims.isOpenTo({ id, limit }, downloader.visitor))
    if (!mayDownload) throw linkUsedUp()
    return { link, ...visitor }
  }

  const names = createLinkNames(signing)
  const visitorOf = createLinkVisitors(claims, signing, { random, clock })

  const onceFor = () => Buffer.from(random(16)).toString('base64url')

  const tagOf = (link: LinkRow) => linkPasswordTag(signing, link)

  /** Leaves out unlocked folders and signed rights: the link alone decides. */
  async function asking(
    { reach, signed = null }: Requester,
    link: LinkRow,
    visitor: LinkDownloader | null,
  ): Promise<LinkRequester> {
    const targets = await linkTargets(db, link.id)
    const files = new Set<FileId>()
    const folders = new Set<FolderId>()
    for (const { file_id, folder_id } of targets) {
      if (file_id !== null) files.add(file_id)
      if (folder_id !== null) folders.add(folder_id)
    }
    const { id, account_id: account, max_downloads } = link
    const isLimited = max_downloads !== null
    const rights = { id, account, files, folders, passwordTag: tagOf(link), isLimited, visitor }
    return { reach, grants: new Map(), signed, link: rights }
  }

  return {
    /** Throws Refusal LINK_NOT_FOUND, LINK_ENDED, and LINK_USED_UP when other visitors hold all slots. */
    async visit(requester: Requester, visit: LinkVisit): Promise<VisitedLink> {
      const { slug, passwords: cookie } = visit
      if (!isLinkSlug(slug)) throw linkNotFound()
      const { link, downloader, newName } = await live(await linkBySlug(db, slug), async (found) =>
        (await isLinkOwner(db, requester.reach, found))
          ? { downloader: null, newName: null }
          : visitorOf(found, visit),
      )
      const tag = tagOf(link)
      const { password_hash: hash } = link
      if (tag !== null && hash !== null && !passwords.unlocks(cookie, link.id, tag)) {
        return { kind: 'locked', link, closed: { lock: { link: link.id }, tag, hash } }
      }
      return {
        kind: 'open',
        link,
        requester: await asking(requester, link, downloader),
        newName,
        once: onceFor(),
      }
    },

    /**
     * Re-validates a signed address. Throws Refusal as `visit` does, PASSWORD_REQUIRED when the link's password
     * is new, INVALID_TOKEN for a late address that is not being read, and FILE_NOT_FOUND for the owner's
     * address once the key or session is void.
     */
    async signed(
      requester: Requester,
      { id, passwordTag, visitor, isLate }: SignedLink,
    ): Promise<LinkRequester> {
      if (isLate && (visitor === null || !(await claims.isInUse(id, visitor.visitor)))) throw addressExpired()
      const { link, downloader } = await live(await linkById(db, id), async (found) => ({
        downloader: await signedFor(db, requester, found, visitor),
        newName: null,
      }))
      const tag = tagOf(link)
      if (tag !== null && tag !== passwordTag) throw passwordRequired()
      return asking(requester, link, downloader)
    },

    /** Token of the visitor's slot, valid for half an hour and while it is read; null without a limit. */
    placeOf: ({ id, visitor, isLimited }: LinkRights): string | null =>
      isLimited && visitor !== null
        ? placeTokenFor(signing, id, visitor, clock.now() + PLACE_LIFETIME)
        : null,

    /** Throws Refusal LINK_NOT_FOUND when no target is left. */
    async targets(link: LinkRow): Promise<LinkTargets> {
      const transfer = await transferOfLink(db, link.id)
      const only = transfer === undefined ? undefined : await onlyFileOf(db, transfer)
      // A transfer of one file is shown as that file.
      if (only !== undefined) return { files: [only], folders: [], unfinished: null }
      const [files, folders] = [await targetFiles(db, link.id), await targetFolders(db, link.id)]
      if (files.length + folders.length === 0) throw linkNotFound()
      const isFinished = transfer === undefined || (await isWhole(db, transfer))
      return { files, folders, unfinished: isFinished ? null : transfer }
    },

    /**
     * By one query, unless folders hold too many files. A target inside a chosen folder counts twice, as it is twice in
     * the zip.
     */
    async content({ files, folders }: Pick<LinkTargets, 'files' | 'folders'>): Promise<SentContent> {
      const inFolders = folders.reduce((sum, { tree_files }) => sum + tree_files, 0)
      const total = {
        files: files.length + inFolders,
        bytes: sumOf(files, ({ size }) => size) + sumOf(folders, ({ tree_bytes }) => tree_bytes),
      }
      const below = inFolders === 0 || inFolders > MOST_COUNTED ? [] : await typesIn(db, folders)
      const types = [...files.map(({ type }) => [type, 1] as const), ...below]
      const isCounted = sumOf(types, ([, count]) => count) === total.files
      return { ...total, kinds: sentFiles(isCounted ? types : [['', total.files]]) }
    },

    /**
     * An upload that is under way to the link's transfer: by its name on the pages of the link, or for null the only one
     * of a transfer of one file. Once it is stored, its file. Null for any other name.
     */
    async arrival({ id, transfer }: LinkRow, name: string | null): Promise<LinkArrival | null> {
      if (transfer === null) return null
      const upload =
        name === null ? await onlyUpload(db, transfer) : await uploadNamed(db, names.readArriving(id, name))
      if (upload === undefined || upload.transfer !== transfer) return null
      if (upload.ended_at === null) return { kind: 'arriving', slug: upload.slug }
      return upload.file_id === null ? null : { kind: 'file', id: upload.file_id }
    },
  }
}

/** Files of a folder of a link whose kinds are counted for its page. */
const MOST_COUNTED = 2000

function sumOf<T>(things: readonly T[], of: (thing: T) => number): number {
  return things.reduce((sum, thing) => sum + of(thing), 0)
}

export type LinkArrival =
  | { readonly kind: 'arriving'; readonly slug: Slug }
  | { readonly kind: 'file'; readonly id: FileId }

async function uploadNamed(db: Database, id: UploadId | null): Promise<UploadRow | undefined> {
  return id === null ? undefined : uploadById(db, id)
}

/** Of a transfer that holds nothing yet and to which nothing else comes. */
async function onlyUpload(db: Database, transfer: FolderId): Promise<UploadRow | undefined> {
  const row = await transferOf(db, transfer)
  if (row === undefined || row.arrived_files > 0 || (row.announced_files ?? 1) !== 1) return undefined
  const [upload, another] = await openUploadsOfTransfer(db, transfer, 2)
  return another === undefined ? upload : undefined
}

export function addressExpired(): Refusal {
  return new Refusal('INVALID_TOKEN', 'This address has expired; open the page of the file again')
}

/** Changes with the link's password. */
export function linkPasswordTag(signing: Signing, { id, password_hash: hash }: LinkRow): string | null {
  return hash === null ? null : signing.tag('link-password', `${id}\n${hash}`)
}

/** For routes without a password form: throws Refusal PASSWORD_REQUIRED. */
export function openedLink(visited: VisitedLink): OpenLink {
  if (visited.kind === 'open') return visited
  throw passwordRequired()
}

export function passwordRequired(how = 'open its page and enter the password first'): Refusal {
  return new Refusal('PASSWORD_REQUIRED', `This needs a password; ${how}`)
}

/** Whether the caller owns all targets. A key restricted to another folder does not. */
async function isLinkOwner(
  db: Database,
  reach: Reach | null,
  { slug, account_id }: LinkRow,
): Promise<boolean> {
  if (reach === null || reach.account !== account_id) return false
  const { account, within } = reach
  if (within === null) return true
  const folder = await findFolder(db, within)
  return folder !== undefined && (await countLinks(db, { account, within: folder.id, slug })) > 0
}

/** Null for the owner. Throws Refusal FILE_NOT_FOUND when the owner's rights are void. */
async function signedFor(
  db: Database,
  { reach, signed = null }: Requester,
  link: LinkRow,
  visitor: LinkDownloader | null,
): Promise<LinkDownloader | null> {
  if (await isLinkOwner(db, reach, link)) return null
  if (visitor === null && !(await isLinkOwner(db, signed, link))) throw fileNotFound()
  return visitor
}

export interface LinkVisit {
  readonly slug: string
  readonly passwords: string | null
  readonly name: string | null
  /** Identifies a program without cookies, and its target within the link. */
  readonly program: string
  readonly isLaterPart: boolean
  readonly once: string | null
  /** Of a slot taken by a form. */
  readonly place: string | null
}

export interface KnownVisitor {
  /** Null for the owner. */
  readonly downloader: LinkDownloader | null
  readonly newName: string | null
}

/**
 * Identifies visitors by a cookie. A program without cookies is a new visitor whenever it begins something,
 * so that each of several behind one address counts; a later range continues its download, and so does a
 * restart after an interruption where the link has no free slot. A form without a cookie is identified by its
 * value, and its target by the token of its slot. Throws Refusal INVALID_TOKEN for a foreign or old token.
 */
export function createLinkVisitors(
  claims: Pick<LinkSlots, 'begunBy' | 'isInUse'>,
  signing: Signing,
  { random, clock }: { readonly random: Random; readonly clock: Clock },
): (link: LinkRow, visit: LinkVisit) => Promise<KnownVisitor> {
  async function placed(link: LinkId, token: string): Promise<LinkDownloader> {
    const found = placeToken.safeParse(signing.unseal(PLACE, token))
    if (!found.success || found.data.l !== link) throw placeInvalid()
    const { v, p, e } = found.data
    const visitor = v as LinkVisitor
    if (e <= clock.now() && !(await claims.isInUse(link, visitor))) throw placeInvalid()
    return { visitor, program: p as LinkProgram | null, isAssumed: false }
  }

  return async ({ id, max_downloads: limit }, { name, program: asking, isLaterPart, once, place }) => {
    const named = (text: string) => signing.tag('link-visitor', `${id}\n${text}`) as LinkVisitor
    if (place !== null && limit !== null) return known(await placed(id, place))
    if (name === null && once !== null) {
      const own = `form\n${once}`
      const program = signing.tag('link-program', `${id}\n${own}`) as LinkProgram
      return known({ visitor: named(own), program, isAssumed: false })
    }
    if (name !== null) return known({ visitor: named(name), program: null, isAssumed: false })
    const program = signing.tag('link-program', `${id}\n${asking}`) as LinkProgram
    const begun = limit === null ? undefined : await claims.begunBy({ id, limit }, program, isLaterPart)
    if (begun !== undefined) return known({ visitor: begun, program, isAssumed: true })
    const newName = Buffer.from(random(16)).toString('base64url')
    return { downloader: { visitor: named(newName), program, isAssumed: false }, newName }
  }
}

const PLACE = 'link-place'
const placeToken = z.object({ l: z.number(), v: z.string(), p: z.string().nullable(), e: z.number() })

/** `until`: Unix milliseconds. */
export function placeTokenFor(
  signing: Pick<Signing, 'seal'>,
  link: LinkId,
  { visitor, program }: LinkDownloader,
  until: number,
): string {
  return signing.seal(PLACE, { l: link, v: visitor, p: program, e: until })
}

function placeInvalid(): Refusal {
  return new Refusal('INVALID_TOKEN', 'This address is not valid any more; open the page of the link again')
}

const known = (downloader: LinkDownloader): KnownVisitor => ({ downloader, newName: null })

/** Identifies a browser at one link that counts downloads, from the first answer on. */
export const VISITOR_COOKIE = 'link_visitor'

const LATER_PART = /^bytes=([1-9]\d*-\d*|-\d+)$/

export function linkVisit({ request, bucket, params, url }: Call, once: string | null = null): LinkVisit {
  const part = url.searchParams.get('download') === 'zip' ? 'zip' : 'file'
  return {
    slug: params.link ?? '',
    passwords: cookieValue(request, FOLDER_COOKIE),
    name: cookieValue(request, VISITOR_COOKIE),
    program: [bucket, request.headers.get('user-agent') ?? '', params.target ?? '', part].join('\n'),
    once,
    place: url.searchParams.get('place'),
    isLaterPart: LATER_PART.test(request.headers.get('range') ?? ''),
  }
}

/** Most say `bot`, or that they make previews; the others are named. Cubot makes phones. */
const PREVIEWERS =
  /(?<!cu)bot\b|crawler|spider|preview|facebookexternalhit|whatsapp|slack-imgproxy|embedly|iframely|vkshare|google-pagerenderer|synapse/i

/** Whether a program or a prefetch makes the request, so no person gets the answer. */
export function isPreview({ headers }: Request): boolean {
  return (
    PREVIEWERS.test(headers.get('user-agent') ?? '') ||
    /prefetch|prerender/.test(headers.get('sec-purpose') ?? headers.get('purpose') ?? '')
  )
}

export interface LinkAsking {
  readonly owner: string
  readonly terms: UploadTerms
  readonly isFull: boolean
  readonly filesLeft: number | null
}

export function createLinkContributors(
  db: Database,
  passwords: Pick<FolderPasswords, 'unlock' | 'unlocks'>,
  signing: Signing,
  clock: Clock,
) {
  async function placeOf({ account_id, uploads_into: into }: LinkRow) {
    const folder = into === null ? undefined : await findFolder(db, into)
    const owner = await findAccount(db, account_id)
    if (folder === undefined || owner === undefined || owner.disabled_at !== null) throw linkNotFound()
    return { within: folder.identifier, owner: owner.display_name ?? owner.username }
  }

  return {
    /**
     * The visitor, with the link's password in the cookie or in plain. Throws Refusal LINK_ENDED,
     * PASSWORD_REQUIRED, WRONG_PASSWORD, RATE_LIMITED, and LINK_NOT_FOUND for a link that is unknown, revoked
     * or takes no uploads, whose folder is gone, or whose owner is disabled.
     */
    async contributor(
      { slug, passwords: cookie }: Pick<LinkVisit, 'slug' | 'passwords'>,
      bucket: string,
      password: string | null,
    ): Promise<ContributorCaller> {
      const link = isLinkSlug(slug) ? await linkBySlug(db, slug) : undefined
      if (link === undefined || link.revoked_at !== null || link.uploads_into === null) throw linkNotFound()
      if (link.ends_at !== null && link.ends_at <= clock.now()) throw linkEnded()
      const tag = linkPasswordTag(signing, link)
      const { id, account_id: account, password_hash: hash } = link
      if (tag !== null && hash !== null && !passwords.unlocks(cookie, id, tag)) {
        if (password === null) {
          throw passwordRequired(
            'enter it on its page, or send it by Basic authentication ("curl -u :password")',
          )
        }
        await passwords.unlock({ lock: { link: id }, tag, hash }, password, bucket, null)
      }
      const { within } = await placeOf(link)
      return { kind: 'contributor', account, within, bucket, link: id }
    },

    /** Throws Refusal LINK_NOT_FOUND. */
    async asking(link: LinkRow): Promise<LinkAsking> {
      const { owner } = await placeOf(link)
      const uploads = await uploadLinkOf(db, link.id)
      if (uploads === undefined) throw linkNotFound()
      const { terms } = uploads
      const usage = await linkUsage(db, link.id)
      const filesLeft = terms.maxFiles === null ? null : Math.max(0, terms.maxFiles - usage.files)
      return { owner, terms, isFull: isFull(terms, usage), filesLeft }
    },
  }
}

export type LinkTarget =
  | { readonly kind: 'file'; readonly id: FileId }
  | { readonly kind: 'folder'; readonly id: FolderId }

/** At most 15 digits: exact integers. */
const FOLDER = /^\d{1,15}$/
const FILE = /^(\d{1,15})-[0-9a-f]+$/
const ARRIVING = /^a(\d{1,15})-[0-9a-f]+$/

export type LinkNames = ReturnType<typeof createLinkNames>

/**
 * Names of files and folders below a link, valid for that link alone: a file's UUID and slug open it at
 * addresses that bypass the link's password, end and limit. A folder has its number, a file its number with
 * an HMAC of link and number, such as `42-0f3a…`, and one that is arriving the same of its upload, after an `a`.
 */
export function createLinkNames({ tag }: Pick<Signing, 'tag'>) {
  const fileName = (link: LinkId, id: FileId) =>
    `${id}-${Buffer.from(tag('link-file', `${link}\n${id}`), 'base64url').toString('hex')}`

  const uploadName = (link: LinkId, id: UploadId) =>
    `a${id}-${Buffer.from(tag('link-upload', `${link}\n${id}`), 'base64url').toString('hex')}`

  return {
    ofArriving: uploadName,

    readArriving(link: LinkId, name: string): UploadId | null {
      const [, digits] = ARRIVING.exec(name) ?? []
      const id = digits === undefined ? null : (Number(digits) as UploadId)
      return id !== null && name === uploadName(link, id) ? id : null
    },

    of: (link: LinkId, { kind, id }: LinkTarget) => (kind === 'file' ? fileName(link, id) : String(id)),

    read(link: LinkId, name: string): LinkTarget | null {
      if (FOLDER.test(name)) return { kind: 'folder', id: Number(name) as FolderId }
      const id = fileNumber(name)
      return id !== null && name === fileName(link, id) ? { kind: 'file', id } : null
    },
  }
}

/** Does not check that the name is one of a given link. */
export function fileNumber(name: string): FileId | null {
  const [, digits] = FILE.exec(name) ?? []
  return digits === undefined ? null : (Number(digits) as FileId)
}

export function linkPath(link: LinkSlug, name?: string): string {
  return name === undefined ? `/l/${link}` : `/l/${link}/${name}`
}

export function linkThumbnailPath(link: LinkSlug, file: string): string {
  return `${linkPath(link, file)}/thumbnail`
}
