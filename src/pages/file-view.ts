import type { Requester } from '../domain/access.ts'
import { cardUrl } from '../domain/card.ts'
import { optionalTime, timestamp } from '../domain/clock.ts'
import { isInlineSafe } from '../domain/safe-types.ts'
import {
  CONTENT_TOKEN_LIFETIME,
  type ContentTokens,
  contentAddress,
  PAGE_TOKEN_LIFETIME,
  type Presentation,
} from '../downloads/content-tokens.ts'
import type { DownloadsModule } from '../downloads/downloads.module.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { FileDetailRow } from '../files/files.ts'
import type { Call } from '../server/call.ts'
import type { Opened } from '../sharing/access.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import { previewKindOf } from './preview-kind.ts'
import type { FilePageView, FilePreview } from './views.ts'

export interface FileViewNeeds {
  readonly downloads: DownloadsModule
  readonly files: FilesModule
  readonly thumbnails: Thumbnails
}

/** Depends on how the file was opened. */
export interface FilePlace
  extends Pick<FilePageView, 'folder' | 'reportUrl' | 'barrier' | 'notice' | 'downloadForm'> {
  readonly path: string
  readonly thumbnail: string
  /** Page whose preview stands for it in chats. */
  readonly card: string
  readonly showsContent: boolean
}

export interface ShownFile {
  readonly requester: Requester
  readonly seen: Opened<FileDetailRow>
  readonly place: FilePlace
}

/** Counts a GET as a view, except the owner's. */
export async function fileView(
  call: Call,
  modules: FileViewNeeds,
  { requester, seen, place }: ShownFile,
): Promise<FilePageView> {
  const { files, thumbnails } = modules
  const { item: file, viewer } = seen
  const { path, thumbnail, card, showsContent, ...rest } = place
  const isOwner = viewer.account === file.account_id
  if (call.request.method === 'GET' && file.damage === null)
    files.usage.fileUsed(file.id, isOwner ? null : 'view')
  const endsWithLink = place.downloadForm !== null || typeof place.notice?.endsAt === 'string'
  const pending = files.usage.pending(file.id)
  return {
    ...rest,
    name: file.name,
    uuid: viewer.link ? null : file.uuid,
    size: file.size,
    type: file.type,
    uploadedAt: timestamp(file.created_at),
    expiresAt: endsWithLink
      ? null
      : optionalTime(files.inactivity.of(file)?.endOf(call.site.clock.now()) ?? null),
    sha256: file.sha256,
    verifiedAt: optionalTime(file.verified_at),
    views: file.views + pending.views,
    downloads: file.downloads + pending.downloads,
    url: call.site.publicUrl + path,
    thumbnailUrl: call.site.publicUrl + thumbnail,
    cardUrl: cardUrl(call.site.publicUrl, showsContent && thumbnails.shows(file) ? card : null),
    oembedUrl: viewer.link
      ? null
      : `${call.site.publicUrl}/oembed?url=${encodeURIComponent(call.site.publicUrl + path)}`,
    // Programs follow everything that looks like an address.
    downloadUrl: place.downloadForm === null ? `${path}?download=1` : path,
    pictureUrl: showsContent && thumbnails.progress(file) === 'ready' ? `${thumbnail}?size=960` : null,
    preview:
      showsContent && file.damage === null
        ? await previewOf(call, modules, { requester, seen, place })
        : null,
    damage: damageFor(isOwner, file),
  }
}

function damageFor(isOwner: boolean, { damage }: FileDetailRow): FilePageView['damage'] {
  if (damage === null) return null
  return isOwner ? 'owner' : 'visitor'
}

export function askedBytes({ searchParams }: URL): Presentation | null {
  if (searchParams.get('download') === '1') return 'download'
  if (searchParams.get('raw') === '1') return 'raw'
  return searchParams.get('view') === '1' ? 'view' : null
}

export function redirectToBytes(
  call: Call,
  tokens: ContentTokens,
  requester: Requester,
  seen: Opened<FileDetailRow>,
  as: Presentation,
  status: 302 | 303 = 302,
): Response {
  const use = { as, counted: false, lifetime: CONTENT_TOKEN_LIFETIME }
  return new Response(null, {
    status,
    headers: {
      Location: contentAddress(call.site, tokens, requester, seen, use),
      'Cache-Control': 'private, no-store',
    },
  })
}

/** Bytes of a picture that phones load as it is. */
const MAX_NATIVE_BYTES = 512 * 1024

const READ_AS_TEXT: ReadonlySet<FilePreview['kind']> = new Set(['text', 'code', 'markdown', 'table'])

async function previewOf(
  { site }: Call,
  { downloads, thumbnails }: FileViewNeeds,
  { requester, seen, place }: ShownFile,
): Promise<FilePreview | null> {
  const file = seen.item
  const kind = previewKindOf(file)
  if (kind === null) return null
  const use = {
    // Text is read with the charset of its headers.
    as: READ_AS_TEXT.has(kind) ? 'raw' : 'view',
    counted: true,
    lifetime: PAGE_TOKEN_LIFETIME,
  } as const
  const rendition = kind === 'image' ? await thumbnails.rendition(file) : null
  const isTurned = rendition?.isTurned === true
  const isLarge = file.size > MAX_NATIVE_BYTES && rendition?.isSmaller === true
  return {
    kind,
    url: contentAddress(site, downloads.contentTokens, requester, seen, use),
    opens: isInlineSafe(file.type) && !isTurned,
    rawUrl: kind === 'text' || kind === 'code' ? `${place.path}?raw=1` : null,
    screen:
      isLarge || isTurned ? { thumbnailUrl: place.thumbnail, url: `${place.thumbnail}?size=large` } : null,
  }
}
