import { z } from '@hono/zod-openapi'
import type { PreviewKind } from '../../web/file/data.ts'
import type { Asker } from '../domain/access.ts'
import { timestamp } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import type { Slug } from '../domain/ids.ts'
import { isInlineSafe } from '../domain/safe-types.ts'
import { contentAddress } from '../downloads/addresses.ts'
import {
  CONTENT_TOKEN_LIFETIME,
  type ContentTokens,
  PAGE_TOKEN_LIFETIME,
} from '../downloads/content-tokens.ts'
import type { DownloadsPart } from '../downloads/downloads.part.ts'
import { fileUrl, thumbnailPath } from '../files/file-answers.ts'
import type { FilesPart } from '../files/files.part.ts'
import type { FileDetail } from '../files/files.ts'
import type { Authentication } from '../server/authentication.ts'
import type { Call, Site } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { type Opened, opened } from '../sharing/access.ts'
import type { SharingPart } from '../sharing/sharing.part.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import { barrierOf } from './barrier.ts'
import { passwordForm } from './folder-password.ts'
import type { PagesPart } from './pages.part.ts'
import { page } from './pages.routes.ts'
import { previewKindOf } from './preview-kind.ts'
import type { FilePageView, FilePreview } from './views.ts'

/** Dependencies of the file page. */
interface FilePageNeeds {
  readonly authentication: Authentication
  readonly downloads: DownloadsPart
  readonly files: FilesPart
  readonly pages: PagesPart
  readonly sharing: SharingPart
  readonly thumbnails: Thumbnails
}

export const getFilePage = endpoint({
  documentation: {
    summary:
      'The page of a file; with ?download=1 on to its bytes, with ?view=1 on to be shown by another site',
    tag: 'Site',
    params: z.object({ slug: z.string() }),
    query: z.object({ download: z.string().optional(), view: z.string().optional() }),
    answers: { 200: { description: 'A page' }, 302: { description: 'On to the signed address' } },
    errors: [403, 404],
  },
  async handle(call, { authentication, downloads, files, pages, sharing, thumbnails }: FilePageNeeds) {
    const asker = await authentication.asker(call)
    const reader = await pages.reader(call)
    const slug = (call.params.slug ?? '') as Slug
    const isDownload = call.url.searchParams.get('download') === '1'
    const isBytes = isDownload || call.url.searchParams.get('view') === '1'
    const seen = await sharing.access.file(asker, { kind: 'slug', slug }).catch((error: unknown) => {
      if (isBytes || !isArriving(error)) throw error
      return null
    })
    if (seen === null) return page(call.site, pages.render.arrivingPage(reader))
    if (isBytes) return redirectToBytes(call, downloads.contentTokens, asker, opened(seen), isDownload)
    if (seen.kind === 'locked') return passwordForm(call, { pages, sharing }, seen.folder, `/d/${slug}`, null)
    const { item: file, viewer } = seen
    const isOwner = viewer.account === file.account_id
    if (call.request.method === 'GET' && file.damage === null)
      files.usage.fileUsed(file.id, isOwner ? null : 'view')
    const pending = files.usage.pending(file.id)
    const folder = seen.chain.at(-1)
    const view: FilePageView = {
      name: file.name,
      uuid: file.uuid,
      size: file.size,
      type: file.type,
      uploadedAt: timestamp(file.created_at),
      expiresAt: timestamp(files.lifetime.endOf(call.site.clock.now())),
      sha256: file.sha256,
      verifiedAt: file.verified_at === null ? null : timestamp(file.verified_at),
      views: file.views + pending.views,
      downloads: file.downloads + pending.downloads,
      url: fileUrl(call.site, file.slug),
      thumbnailUrl: call.site.publicUrl + thumbnailPath(file.uuid),
      downloadUrl: `/d/${file.slug}?download=1`,
      pictureUrl: thumbnails.progress(file) === 'ready' ? `${thumbnailPath(file.uuid)}?size=960` : null,
      preview:
        file.damage === null ? await previewOf(call.site, { downloads, thumbnails }, asker, seen) : null,
      folder: folder === undefined ? null : { name: folder.name, url: `/f/${folder.identifier}` },
      reportUrl: isOwner ? null : `/d/${file.slug}/report`,
      barrier: isOwner ? barrierOf(seen.chain) : null,
      damage: damageFor(isOwner, file),
    }
    return page(call.site, pages.render.filePage(view, reader), view.damage === null ? 200 : 500)
  },
})

function damageFor(isOwner: boolean, { damage }: FileDetail): FilePageView['damage'] {
  if (damage === null) return null
  return isOwner ? 'owner' : 'visitor'
}

/** Whether the link belongs to an upload that is still receiving bytes. */
function isArriving(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'FILE_ARRIVING'
}

/** Redirects to the bytes: as an attachment, or inline for other sites that embed them. */
function redirectToBytes(
  call: Call,
  tokens: ContentTokens,
  asker: Asker,
  seen: Opened<FileDetail>,
  download: boolean,
): Response {
  const use = { download, counted: false, proxied: false, lifetime: CONTENT_TOKEN_LIFETIME }
  return new Response(null, {
    status: 302,
    headers: {
      Location: contentAddress(call.site, tokens, asker, seen, use),
      'Cache-Control': 'private, no-store',
    },
  })
}

/** Maximum bytes of a picture that phones load at once, instead of a smaller rendition. */
const MAX_NATIVE_BYTES = 512 * 1024

/** Kinds that the browser displays natively, following redirects to the bytes. */
const NATIVE_KINDS: ReadonlySet<PreviewKind> = new Set(['image', 'video', 'audio'])

async function previewOf(
  site: Site,
  { downloads, thumbnails }: Pick<FilePageNeeds, 'downloads' | 'thumbnails'>,
  asker: Asker,
  seen: Opened<FileDetail>,
): Promise<FilePreview | null> {
  const file = seen.item
  const kind = previewKindOf(file)
  if (kind === null) return null
  const use = {
    download: false,
    counted: true,
    proxied: !NATIVE_KINDS.has(kind),
    lifetime: PAGE_TOKEN_LIFETIME,
  }
  const isLarge = kind === 'image' && file.size > MAX_NATIVE_BYTES
  const path = thumbnailPath(file.uuid)
  return {
    kind,
    url: contentAddress(site, downloads.contentTokens, asker, seen, use),
    opens: isInlineSafe(file.type),
    screen:
      isLarge && (await thumbnails.hasScreen(file))
        ? { thumbnailUrl: path, url: `${path}?size=large` }
        : null,
  }
}
