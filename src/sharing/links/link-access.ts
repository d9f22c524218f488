import type { Core } from '../../core/core.ts'
import type { Signing } from '../../core/hmac.ts'
import type { Database } from '../../database/database.ts'
import type { LinkDownloader, LinkRights, Reach, Requester } from '../../domain/access.ts'
import { MINUTE } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FileId, FolderId, LinkId } from '../../domain/ids.ts'
import { isLinkSlug } from '../../domain/link-slug.ts'
import type { FileListRow } from '../../files/file-lists.rows.ts'
import { type FolderListRow, findFolder } from '../../files/folders/folders.rows.ts'
import { fileNotFound } from '../../files/own-file.ts'
import { linkEnded } from '../../uploads/contributions.ts'
import type { ClosedLock, FolderPasswords } from '../folder-passwords.ts'
import { type LinkClaims, linkUsedUp } from './link-claims.ts'
import { linkNotFound } from './link-reading.ts'
import { linkTargets, targetFiles, targetFolders } from './link-targets.rows.ts'
import { createLinkVisitors, type KnownVisitor, type LinkVisit, placeTokenFor } from './link-visitors.ts'
import { countLinks, type LinkRow, linkById, linkBySlug } from './links.rows.ts'

const PLACE_LIFETIME = 30 * MINUTE

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

/** Access by links, decided from the row at every request by `decideAccess`. */
export interface LinkAccess {
  /** Throws Refusal LINK_NOT_FOUND, LINK_ENDED, and LINK_USED_UP when other visitors hold all slots. */
  visit(requester: Requester, visit: LinkVisit): Promise<VisitedLink>
  /**
   * Re-validates a signed address. Throws Refusal as `visit` does, PASSWORD_REQUIRED when the link's password
   * is new, INVALID_TOKEN for a late address that is not being read, and FILE_NOT_FOUND for the owner's
   * address once the key or session is void.
   */
  signed(requester: Requester, link: SignedLink): Promise<LinkRequester>
  /** Token of the visitor's slot, valid for half an hour and while it is read; null without a limit. */
  placeOf(link: LinkRights): string | null
  /** Throws Refusal LINK_NOT_FOUND when no target is left. */
  targets(link: LinkRow): Promise<LinkTargets>
}

/** In the chosen order. */
export interface LinkTargets {
  readonly files: readonly FileListRow[]
  readonly folders: readonly FolderListRow[]
}

export function createLinkAccess(
  { db, signing, clock, random }: Pick<Core, 'db' | 'signing' | 'clock' | 'random'>,
  passwords: Pick<FolderPasswords, 'unlocks'>,
  claims: LinkClaims,
): LinkAccess {
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
    async visit(requester, visit) {
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

    async signed(requester, { id, passwordTag, visitor, isLate }) {
      if (isLate && (visitor === null || !(await claims.isInUse(id, visitor.visitor)))) throw addressExpired()
      const { link, downloader } = await live(await linkById(db, id), async (found) => ({
        downloader: await signedFor(db, requester, found, visitor),
        newName: null,
      }))
      const tag = tagOf(link)
      if (tag !== null && tag !== passwordTag) throw passwordRequired()
      return asking(requester, link, downloader)
    },

    placeOf: ({ id, visitor, isLimited }) =>
      isLimited && visitor !== null
        ? placeTokenFor(signing, id, visitor, clock.now() + PLACE_LIFETIME)
        : null,

    async targets(link) {
      const [files, folders] = [await targetFiles(db, link.id), await targetFolders(db, link.id)]
      if (files.length + folders.length === 0) throw linkNotFound()
      return { files, folders }
    },
  }
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
