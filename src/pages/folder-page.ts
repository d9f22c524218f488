import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import { DAY } from '../domain/clock.ts'
import { parseFolderIdentifier } from '../domain/ids.ts'
import type { DownloadsModule } from '../downloads/downloads.module.ts'
import { archiveAnswers, archiveReader, sendArchive } from '../downloads/zip/archives.routes.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { FolderListRow } from '../files/folders/folders.rows.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { cookieValue, setCookie, withCookies } from '../server/requests/browser.ts'
import { type Opened, opened, WAYS_COOKIE } from '../sharing/access.ts'
import { isPreview } from '../sharing/links/link-access.ts'
import type { ByteSlots } from '../sharing/links/link-slots.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import { pictureAddress, type Thumbnails, thumbnailPath } from '../thumbnails/thumbnails.ts'
import { barrierOf } from './barrier.ts'
import { type FolderPlace, folderPage } from './folder-contents.ts'
import { lockedFolderPage, passwordForm } from './folder-password.ts'
import { FILE_SORTS } from './folder-query.ts'
import type { PagesModule } from './pages.module.ts'

/** Seconds. */
const WAYS_KEPT_FOR = 30 * DAY

interface FolderPageNeeds {
  readonly authentication: Authentication
  readonly downloads: DownloadsModule
  readonly files: FilesModule
  readonly pages: PagesModule
  readonly sharing: SharingModule
  readonly thumbnails: Thumbnails
}

export const getFolderPage = endpoint({
  documentation: {
    summary: 'Open a folder',
    description: 'Its page. With ?download=zip what is in it as one ZIP file.',
    tag: 'Site',
    params: z.object({ identifier: z.string() }),
    query: z.object({
      page: z.string().optional(),
      sort: z.enum(FILE_SORTS).optional(),
      order: z.enum(['asc', 'desc']).optional(),
      view: z.enum(['list', 'gallery']).optional(),
      download: z.string().optional(),
    }),
    answers: {
      ...archiveAnswers,
      200: { description: 'A page, or a ZIP file' },
      303: { description: 'On to the page, in the order that was asked for' },
    },
    errors: [403, 404, 412, 416],
  },
  streams: 'out',
  async handle(call, { authentication, downloads, files, pages, sharing, thumbnails }: FolderPageNeeds) {
    const identifier = parseFolderIdentifier(call.params.identifier)
    const seen = await sharing.access.folder(authentication.requester(call), identifier)
    if (call.url.searchParams.get('download') === 'zip')
      return toArchive(call, { downloads, files }, opened(seen))
    if (seen.kind === 'locked')
      return passwordForm(call, { pages, sharing }, lockedFolderPage(seen.folder), `/f/${identifier}`, null)
    if (seen.item.is_transfer === 1 && !isPreview(call.request)) files.usage.transferUsed(seen.item.id)
    const ways = cookieValue(call.request, WAYS_COOKIE)
    const shown = isOwn(seen) ? seen.chain : sharing.waysUp.shown(ways, seen.chain)
    const place: FolderPlace = {
      name: seen.item.name,
      path: `/f/${identifier}`,
      card: `/f/${identifier}`,
      above: shown.slice(0, -1).map((step) => ({ name: step.name, url: `/f/${step.identifier}` })),
      fileAt: (file) => `/d/${file.slug}`,
      folderAt: (folder) => `/f/${folder.identifier}`,
      pictureOf: (file) => pictureAddress(thumbnails, file),
      coverOf: ({ cover }) => (cover === null ? null : thumbnailPath(cover)),
      showsPrivate: isOwn(seen),
      barrier: isOwn(seen) ? barrierOf(seen.chain) : null,
      notice: null,
      downloadForm: null,
    }
    const response = await folderPage(call, { pages, sharing, thumbnails }, seen, place)
    const now = isOwn(seen) ? null : await sharing.waysUp.cookieAfter(ways, seen.chain)
    if (now === null) return response
    const cookie = setCookie(call.site, { name: WAYS_COOKIE, value: now, lasts: WAYS_KEPT_FOR })
    return withCookies(response, [cookie])
  },
})

export async function toArchive(
  call: Call,
  { downloads, files }: { downloads: DownloadsModule; files: FilesModule },
  seen: Opened<FolderListRow>,
  claims: ByteSlots | null = null,
): Promise<Response> {
  const { item: folder, viewer } = seen
  const archive = await downloads.archives.folder(archiveReader(call), viewer, folder.id)
  return sendArchive(call, files.usage, archive, {
    folder: folder.name,
    isOwner: isOwn(seen),
    claims,
  })
}

function isOwn({ viewer, item }: Opened<FolderListRow>): boolean {
  return viewer.account === item.account_id
}
