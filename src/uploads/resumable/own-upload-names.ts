import type { Signing } from '../../core/hmac.ts'
import { isSlug, type OwnUploadName, type Slug } from '../../domain/ids.ts'

/**
 * Names of uploads for owners who were never told the secret that theirs began with: whoever lists unfinished uploads
 * gets them. They are signed, so a link, which is given away, leads to none.
 */
export interface OwnUploadNames {
  of(slug: Slug): OwnUploadName
  /** The upload's slug, or null when the name is none of these. */
  read(name: string): Slug | null
}

const PURPOSE = 'own upload'

export function createOwnUploadNames(signing: Signing): OwnUploadNames {
  return {
    of: (slug) => signing.sign(PURPOSE, slug) as OwnUploadName,
    read(name) {
      const slug = signing.verify(PURPOSE, name)
      return typeof slug === 'string' && isSlug(slug) ? slug : null
    },
  }
}
