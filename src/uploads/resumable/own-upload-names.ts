import type { Signing } from '../../core/hmac.ts'
import { isSlug, type OwnUploadName, type Slug } from '../../domain/ids.ts'

/** Signed names for owners without the token. The link, which owners share, does not lead to one. */
export interface OwnUploadNames {
  of(slug: Slug): OwnUploadName
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
