import { z } from '@hono/zod-openapi'
import type { Viewer } from '../../domain/access.ts'
import { timestamp } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import type { Slug } from '../../domain/ids.ts'
import { isInlineSafe } from '../../domain/safe-types.ts'
import { unlocked } from '../../services/access.ts'
import type { FileDetail } from '../../services/files.ts'
import { expiresAt, fileUrl, thumbnailPath } from '../api/file-answers.ts'
import { type Call, type Site, viewerOf } from '../call.ts'
import { contentAddress } from '../content/addresses.ts'
import type { Route } from '../route.ts'
import { passwordForm } from './folder-password.ts'
import { readerOf } from './language.ts'
import { page } from './pages.ts'
import type { FilePageView } from './views.ts'

export const getFilePage: Route = {
  method: 'get',
  path: '/d/{slug}',
  auth: 'none',
  documentation: {
    summary: 'The page of a file; with ?download=1 on to its bytes',
    tag: 'Site',
    params: z.object({ slug: z.string() }),
    query: z.object({ download: z.string().optional() }),
    answers: { 200: { description: 'A page' }, 302: { description: 'On to the signed address' } },
    errors: [403, 404],
  },
  async handle(call) {
    const { access, usage } = call.site.services
    const reader = readerOf(call.request)
    const viewer = await viewerOf(call)
    const slug = (call.params.slug ?? '') as Slug
    const isDownload = call.url.searchParams.get('download') === '1'
    const seen = await access.file(viewer, { kind: 'slug', slug }).catch((error: unknown) => {
      if (isDownload || !isArriving(error)) throw error
      return null
    })
    if (seen === null) return page(call.site, call.site.pages.arrivingPage(reader))
    if (isDownload) return toBytes(call, viewer, unlocked(seen))
    if (seen.kind === 'locked') return passwordForm(call, seen.folder, `/d/${slug}`, null)
    const file = seen.item
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
      preview: preview(call.site, viewer, file),
      folder: folder === undefined ? null : { name: folder.name, url: `/f/${folder.identifier}` },
    }
    return page(call.site, call.site.pages.filePage(view, reader))
  },
}

/** Whether the link is that of an upload whose bytes are still coming. */
function isArriving(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'FILE_ARRIVING'
}

function toBytes(call: Call, viewer: Viewer, file: FileDetail): Response {
  const location = contentAddress(call.site, viewer, file, { download: true, counted: false })
  return new Response(null, {
    status: 302,
    headers: { Location: location, 'Cache-Control': 'private, no-store' },
  })
}

function preview(site: Site, viewer: Viewer, file: FileDetail): FilePageView['preview'] {
  const [kind] = file.type.split('/')
  if (!isInlineSafe(file.type)) return null
  if (kind !== 'image' && kind !== 'video' && kind !== 'audio') return null
  return { kind, url: contentAddress(site, viewer, file, { download: false, counted: true }) }
}
