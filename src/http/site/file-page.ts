import { z } from '@hono/zod-openapi'
import type { PreviewKind } from '../../../web/file/data.ts'
import type { Asker } from '../../domain/access.ts'
import { timestamp } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Slug } from '../../domain/ids.ts'
import { isInlineSafe } from '../../domain/safe-types.ts'
import { unlocked } from '../../services/access.ts'
import { CONTENT_TOKEN_LIFETIME, PAGE_TOKEN_LIFETIME } from '../../services/content-tokens.ts'
import type { FileDetail } from '../../services/files.ts'
import { expiresAt, fileUrl, thumbnailPath } from '../api/file-answers.ts'
import { askerOf, type Call, type Site } from '../call.ts'
import { contentAddress } from '../content/addresses.ts'
import type { Route } from '../route.ts'
import { barrierOf } from './barrier.ts'
import { passwordForm } from './folder-password.ts'
import { pageReader } from './page-reader.ts'
import { page } from './pages.ts'
import { previewKindOf } from './preview-kind.ts'
import type { FilePageView, FilePreview } from './views.ts'

export const getFilePage: Route = {
  method: 'get',
  path: '/d/{slug}',
  auth: 'none',
  documentation: {
    summary:
      'The page of a file; with ?download=1 on to its bytes, with ?view=1 on to be shown by another site',
    tag: 'Site',
    params: z.object({ slug: z.string() }),
    query: z.object({ download: z.string().optional(), view: z.string().optional() }),
    answers: { 200: { description: 'A page' }, 302: { description: 'On to the signed address' } },
    errors: [403, 404],
  },
  async handle(call) {
    const { access, usage } = call.site.services
    const asker = await askerOf(call)
    const reader = await pageReader(call)
    const slug = (call.params.slug ?? '') as Slug
    const isDownload = call.url.searchParams.get('download') === '1'
    const isBytes = isDownload || call.url.searchParams.get('view') === '1'
    const seen = await access.file(asker, { kind: 'slug', slug }).catch((error: unknown) => {
      if (isBytes || !isArriving(error)) throw error
      return null
    })
    if (seen === null) return page(call.site, call.site.pages.arrivingPage(reader))
    if (isBytes) return toBytes(call, asker, unlocked(seen), isDownload)
    if (seen.kind === 'locked') return passwordForm(call, seen.folder, `/d/${slug}`, null)
    const { item: file, viewer } = seen
    const isOwner = viewer.account === file.account_id
    if (call.request.method === 'GET') usage.fileUsed(file.id, isOwner ? null : 'view')
    const pending = usage.pending(file.id)
    const folder = seen.chain.at(-1)
    const view: FilePageView = {
      name: file.name,
      uuid: file.uuid,
      size: file.size,
      type: file.type,
      uploadedAt: timestamp(file.created_at),
      expiresAt: timestamp(expiresAt(call.site, { last_used_at: call.site.clock.now() })),
      sha256: file.sha256,
      views: file.views + pending.views,
      downloads: file.downloads + pending.downloads,
      url: fileUrl(call.site, file.slug),
      thumbnailUrl: call.site.publicUrl + thumbnailPath(file.uuid),
      downloadUrl: `/d/${file.slug}?download=1`,
      pictureUrl: hasThumbnail(call.site, file) ? `${thumbnailPath(file.uuid)}?size=960` : null,
      preview: await previewOf(call.site, asker, file),
      folder: folder === undefined ? null : { name: folder.name, url: `/f/${folder.identifier}` },
      reportUrl: isOwner ? null : `/d/${file.slug}/report`,
      barrier: isOwner ? barrierOf(seen.chain) : null,
    }
    return page(call.site, call.site.pages.filePage(view, reader))
  },
}

/** Whether the link is that of an upload whose bytes are still coming. */
function isArriving(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'FILE_ARRIVING'
}

function hasThumbnail(site: Site, file: FileDetail): boolean {
  return site.services.thumbnails.progress(file) === 'ready'
}

/** On to the bytes: as an attachment, or to be shown by another site that embeds them. */
function toBytes(call: Call, asker: Asker, file: FileDetail, download: boolean): Response {
  const use = { download, counted: false, proxied: false, lifetime: CONTENT_TOKEN_LIFETIME }
  return new Response(null, {
    status: 302,
    headers: {
      Location: contentAddress(call.site, asker, file, use),
      'Cache-Control': 'private, no-store',
    },
  })
}

/** Bytes of a picture up to which a phone gets it at once. */
const SHOWN_ITSELF = 512 * 1024

/** Kinds that the browser shows by itself, following the address to wherever the bytes are. */
const BY_ITSELF: ReadonlySet<PreviewKind> = new Set(['image', 'video', 'audio'])

async function previewOf(site: Site, asker: Asker, file: FileDetail): Promise<FilePreview | null> {
  const kind = previewKindOf(file)
  if (kind === null) return null
  const use = { download: false, counted: true, proxied: !BY_ITSELF.has(kind), lifetime: PAGE_TOKEN_LIFETIME }
  const isLarge = kind === 'image' && file.size > SHOWN_ITSELF
  const path = thumbnailPath(file.uuid)
  return {
    kind,
    url: contentAddress(site, asker, file, use),
    opens: isInlineSafe(file.type),
    screen:
      isLarge && (await site.services.thumbnails.hasScreen(file))
        ? { thumbnailUrl: path, url: `${path}?size=large` }
        : null,
  }
}
