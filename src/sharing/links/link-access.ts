import type { Signing } from '../../core/hmac.ts'
import type { Database } from '../../database/database.ts'
import type { Asker, LinkRights } from '../../domain/access.ts'
import type { Clock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { FileId, FolderId, LinkId } from '../../domain/ids.ts'
import { isLinkSlug } from '../../domain/link-slug.ts'
import type { FileListRow } from '../../files/file-lists.rows.ts'
import type { FolderListRow } from '../../files/folders/folders.rows.ts'
import type { ClosedLock, FolderPasswords } from '../folder-passwords.ts'
import { linkTargets, targetFiles, targetFolders } from './link-targets.rows.ts'
import { type LinkRow, linkById, linkBySlug } from './links.rows.ts'
import { linkNotFound } from './links.ts'

/** A link that is in force, or whose password is required first. */
export type VisitedLink =
  | OpenLink
  | { readonly kind: 'locked'; readonly link: LinkRow; readonly closed: ClosedLock }

export interface OpenLink {
  readonly kind: 'open'
  readonly link: LinkRow
  readonly asker: LinkAsker
}

/** A caller who comes by a link, and is let in by it. */
export type LinkAsker = Asker & { readonly link: LinkRights }

/** A link as a signed address carries it. */
export interface SignedLink {
  readonly id: LinkId
  /** Tag of the password that its signer had given; null where it had none. */
  readonly passwordTag: string | null
}

/** Access by made links, decided from the row at every request. The rule itself is `decideAccess`. */
export interface LinkAccess {
  /**
   * The link of that slug. `cookie`: the passwords that were given. Throws Refusal LINK_NOT_FOUND for one that is
   * unknown or revoked, and LINK_ENDED.
   */
  visit(asker: Asker, slug: string, cookie: string | null): Promise<VisitedLink>
  /**
   * Re-validates a signed address: throws Refusal as `visit` does, and PASSWORD_REQUIRED when the link got a password,
   * or another one, since.
   */
  signed(asker: Asker, link: SignedLink): Promise<LinkAsker>
  /** What the link opens now. Throws Refusal LINK_NOT_FOUND when nothing is left of that. */
  targets(link: LinkRow): Promise<LinkTargets>
}

/** In the order chosen. */
export interface LinkTargets {
  readonly files: readonly FileListRow[]
  readonly folders: readonly FolderListRow[]
}

export function createLinkAccess(
  db: Database,
  passwords: Pick<FolderPasswords, 'unlocks'>,
  signing: Signing,
  clock: Clock,
): LinkAccess {
  function assertLive(link: LinkRow | undefined): LinkRow {
    if (link === undefined || link.revoked_at !== null) throw linkNotFound()
    if (link.ends_at !== null && link.ends_at <= clock.now()) {
      throw new Refusal('LINK_ENDED', 'This link has ended; ask the person who sent it for another one')
    }
    return link
  }

  const tagOf = ({ id, password_hash: hash }: LinkRow) =>
    hash === null ? null : signing.tag('link-password', `${id}\n${hash}`)

  /** What unlocked folders and signed rights would add is left out: the link alone decides. */
  async function asking({ reach, signed = null }: Asker, link: LinkRow): Promise<LinkAsker> {
    const targets = await linkTargets(db, link.id)
    const files = new Set<FileId>()
    const folders = new Set<FolderId>()
    for (const { file_id, folder_id } of targets) {
      if (file_id !== null) files.add(file_id)
      if (folder_id !== null) folders.add(folder_id)
    }
    const rights = { id: link.id, account: link.account_id, files, folders, passwordTag: tagOf(link) }
    return { reach, grants: new Map(), signed, link: rights }
  }

  return {
    async visit(asker, slug, cookie) {
      if (!isLinkSlug(slug)) throw linkNotFound()
      const link = assertLive(await linkBySlug(db, slug))
      const tag = tagOf(link)
      const { password_hash: hash } = link
      if (tag !== null && hash !== null && !passwords.unlocks(cookie, link.id, tag)) {
        return { kind: 'locked', link, closed: { lock: { link: link.id }, tag, hash } }
      }
      return { kind: 'open', link, asker: await asking(asker, link) }
    },

    async signed(asker, { id, passwordTag }) {
      const link = assertLive(await linkById(db, id))
      const tag = tagOf(link)
      if (tag !== null && tag !== passwordTag) throw passwordRequired()
      return asking(asker, link)
    },

    async targets(link) {
      const [files, folders] = [await targetFiles(db, link.id), await targetFolders(db, link.id)]
      if (files.length + folders.length === 0) throw linkNotFound()
      return { files, folders }
    },
  }
}

/** The open link, or Refusal PASSWORD_REQUIRED: for routes without a password form. */
export function openedLink(visited: VisitedLink): OpenLink {
  if (visited.kind === 'open') return visited
  throw passwordRequired()
}

function passwordRequired(): Refusal {
  return new Refusal('PASSWORD_REQUIRED', 'This needs a password; open its page and enter the password first')
}
