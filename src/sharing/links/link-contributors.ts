import { findAccount } from '../../core/accounts.rows.ts'
import type { ContributorCaller } from '../../core/callers.ts'
import type { Signing } from '../../core/hmac.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../domain/clock.ts'
import { isLinkSlug } from '../../domain/link-slug.ts'
import { findFolder } from '../../files/folders/folders.rows.ts'
import { linkEnded } from '../../uploads/contributions.ts'
import type { FolderPasswords } from '../folder-passwords.ts'
import { linkPasswordTag, passwordRequired } from './link-access.ts'
import { linkNotFound } from './link-reading.ts'
import type { LinkVisit } from './link-visitors.ts'
import { linkBySlug } from './links.rows.ts'

/**
 * Who comes to put something into the folder of an upload link, with its password in the cookie or as it is. Throws Refusal
 * LINK_ENDED, PASSWORD_REQUIRED, WRONG_PASSWORD, RATE_LIMITED, and LINK_NOT_FOUND for a link that is unknown, revoked or
 * takes nothing, whose folder is gone, or whose owner is disabled.
 */
export type LinkContributors = (
  visit: Pick<LinkVisit, 'slug' | 'passwords'>,
  bucket: string,
  password: string | null,
) => Promise<ContributorCaller>

export function createLinkContributors(
  db: Database,
  passwords: Pick<FolderPasswords, 'unlock' | 'unlocks'>,
  signing: Signing,
  clock: Clock,
): LinkContributors {
  return async ({ slug, passwords: cookie }, bucket, password) => {
    const link = isLinkSlug(slug) ? await linkBySlug(db, slug) : undefined
    if (link === undefined || link.revoked_at !== null || link.uploads_into === null) throw linkNotFound()
    if (link.ends_at !== null && link.ends_at <= clock.now()) throw linkEnded()
    const tag = linkPasswordTag(signing, link)
    const { id, account_id: account, password_hash: hash } = link
    if (tag !== null && hash !== null && !passwords.unlocks(cookie, id, tag)) {
      if (password === null) throw passwordRequired()
      await passwords.unlock({ lock: { link: id }, tag, hash }, password, bucket, null)
    }
    const folder = await findFolder(db, link.uploads_into)
    const owner = await findAccount(db, account)
    if (folder === undefined || owner === undefined || owner.disabled_at !== null) throw linkNotFound()
    return { kind: 'contributor', account, within: folder.identifier, bucket, link: id }
  }
}
