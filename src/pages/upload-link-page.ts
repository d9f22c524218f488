import { optionalTime } from '../domain/clock.ts'
import type { Call } from '../server/call.ts'
import type { OpenLink } from '../sharing/links/link-access.ts'
import type { SharingPart } from '../sharing/sharing.part.ts'
import type { PagesPart } from './pages.part.ts'
import { page } from './pages.routes.ts'
import type { UploadLinkView } from './views.ts'

/** Reveals nothing about the folder. */
export async function uploadLinkPage(
  call: Call,
  { pages, sharing }: { readonly pages: PagesPart; readonly sharing: Pick<SharingPart, 'linkContributors'> },
  { link }: Pick<OpenLink, 'link'>,
): Promise<Response> {
  const { owner, terms, isFull, filesLeft } = await sharing.linkContributors.asking(link)
  const { maxFileSize } = call.site.config
  const view: UploadLinkView = {
    slug: link.slug,
    owner,
    notice: {
      name: link.name,
      message: link.message,
      endsAt: optionalTime(link.ends_at),
      left: null,
    },
    fields: terms.fields,
    types: terms.types,
    maxFileSize: Math.min(maxFileSize, terms.maxFileSize ?? maxFileSize, terms.maxSize ?? maxFileSize),
    isFull,
    filesLeft,
  }
  return page(call.site, pages.render.uploadLinkPage(view, await pages.reader(call)))
}
