import type { Core } from '../../core/core.ts'
import type { Signing } from '../../core/hmac.ts'
import type { LinkDownloader, LinkRights, Requester } from '../../domain/access.ts'
import { MINUTE } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FileId, FolderId, LinkId } from '../../domain/ids.ts'
import { isLinkSlug } from '../../domain/link-slug.ts'
import type { FileListRow } from '../../files/file-lists.rows.ts'
import type { FolderListRow } from '../../files/folders/folders.rows.ts'
import { linkEnded } from '../../uploads/contributions.ts'
import type { ClosedLock, FolderPasswords } from '../folder-passwords.ts'
import { type LinkClaims, linkUsedUp } from './link-claims.ts'
import { isLinkOwner, signedFor } from './link-owners.ts'
import { linkNotFound } from './link-reading.ts'
import { linkTargets, targetFiles, targetFolders } from './link-targets.rows.ts'
import { createLinkVisitors, type KnownVisitor, type LinkVisit, placeTokenFor } from './link-visitors.ts'
import { type LinkRow, linkById, linkBySlug } from './links.rows.ts'

/** Milliseconds. */
const PLACE_LIFETIME = 30 * MINUTE

/** A link that is in force, or whose password is required first. */
export type VisitedLink =
  | OpenLink
  | { readonly kind: 'locked'; readonly link: LinkRow; readonly closed: ClosedLock }

export interface OpenLink {
  readonly kind: 'open'
  readonly link: LinkRow
  readonly requester: LinkRequester
  /** For the cookie of a visitor who has none; null where the visitor is known. */
  readonly newName: string | null
  /** For the form of the page, where downloads are limited: the same value is the same place. */
  readonly once: string
}

/** A caller who comes by a link, and is let in by it. */
export type LinkRequester = Requester & { readonly link: LinkRights }

/** A link as a signed address carries it. */
export interface SignedLink {
  readonly id: LinkId
  /** Tag of the password that its signer had given; null where it had none. */
  readonly passwordTag: string | null
  readonly visitor: LinkDownloader | null
  /** Whether its time is over: then it is good where its visitor reads a limited link by it. */
  readonly isLate: boolean
}

/** Access by made links, decided from the row at every request. The rule itself is `decideAccess`. */
export interface LinkAccess {
  /**
   * The link of that slug. Throws Refusal LINK_NOT_FOUND for one that is unknown or revoked, LINK_ENDED, and LINK_USED_UP
   * when all downloads were taken, by others.
   */
  visit(requester: Requester, visit: LinkVisit): Promise<VisitedLink>
  /**
   * Re-validates a signed address: throws Refusal as `visit` does, and PASSWORD_REQUIRED when the link got a password,
   * or another one, since, and INVALID_TOKEN for a late one that nobody reads. An address that the link's owner got is refused (FILE_NOT_FOUND) once the key or session is void.
   */
  signed(requester: Requester, link: SignedLink): Promise<LinkRequester>
  /** A token of the visitor's place, good for half an hour and longer while it is read; null where nothing is limited. */
  placeOf(link: LinkRights): string | null
  /** What the link opens now. Throws Refusal LINK_NOT_FOUND when nothing is left of that. */
  targets(link: LinkRow): Promise<LinkTargets>
}

/** In the order chosen. */
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

  /** What unlocked folders and signed rights would add is left out: the link alone decides. */
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

/** Changes with every change of the link's password; null: it has none. */
export function linkPasswordTag(signing: Signing, { id, password_hash: hash }: LinkRow): string | null {
  return hash === null ? null : signing.tag('link-password', `${id}\n${hash}`)
}

/** The open link, or Refusal PASSWORD_REQUIRED: for routes without a password form. */
export function openedLink(visited: VisitedLink): OpenLink {
  if (visited.kind === 'open') return visited
  throw passwordRequired()
}

/** `how`: what to do. */
export function passwordRequired(how = 'open its page and enter the password first'): Refusal {
  return new Refusal('PASSWORD_REQUIRED', `This needs a password; ${how}`)
}
