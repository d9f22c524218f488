import { findAccount } from '../../core/accounts.rows.ts'
import type { ContributorCaller } from '../../core/callers.ts'
import type { Signing } from '../../core/hmac.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../domain/clock.ts'
import { isLinkSlug } from '../../domain/link-slug.ts'
import { isFull, type UploadTerms } from '../../domain/upload-terms.ts'
import { findFolder } from '../../files/folders/folders.rows.ts'
import { linkUsage, uploadLinkOf } from '../../uploads/contributions.rows.ts'
import { linkEnded } from '../../uploads/contributions.ts'
import type { FolderPasswords } from '../folder-passwords.ts'
import { linkPasswordTag, passwordRequired } from './link-access.ts'
import { linkNotFound } from './link-reading.ts'
import type { LinkVisit } from './link-visitors.ts'
import { type LinkRow, linkBySlug } from './links.rows.ts'

export interface LinkContributors {
  /**
   * The visitor, with the link's password in the cookie or in plain. Throws Refusal LINK_ENDED,
   * PASSWORD_REQUIRED, WRONG_PASSWORD, RATE_LIMITED, and LINK_NOT_FOUND for a link that is unknown, revoked
   * or takes no uploads, whose folder is gone, or whose owner is disabled.
   */
  contributor(
    visit: Pick<LinkVisit, 'slug' | 'passwords'>,
    bucket: string,
    password: string | null,
  ): Promise<ContributorCaller>
  /** Throws Refusal LINK_NOT_FOUND. */
  asking(link: LinkRow): Promise<LinkAsking>
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
): LinkContributors {
  async function placeOf({ account_id, uploads_into: into }: LinkRow) {
    const folder = into === null ? undefined : await findFolder(db, into)
    const owner = await findAccount(db, account_id)
    if (folder === undefined || owner === undefined || owner.disabled_at !== null) throw linkNotFound()
    return { within: folder.identifier, owner: owner.username }
  }

  return {
    async contributor({ slug, passwords: cookie }, bucket, password) {
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

    async asking(link) {
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
