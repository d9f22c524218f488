import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import type { Requester } from '../domain/access.ts'
import { Refusal } from '../domain/errors.ts'
import { type FileId, type FileIdentifier, GUESTS, parseFileIdentifier, type Uuid } from '../domain/ids.ts'
import { type FileDetailRow, fileNotFound } from '../files/files.ts'
import type { Folders } from '../files/folders/folders.ts'
import { partToSend } from '../server/answers/part-to-send.ts'
import type { Call } from '../server/call.ts'
import { bytesOf, type Documentation, endpoint } from '../server/endpoint.ts'
import { type AccessControl, opened } from '../sharing/access.ts'
import { type LinkAccess, type LinkNames, linkVisit, openedLink } from '../sharing/links/link-access.ts'
import { type FilesByReceiptNeeds, receiptOf } from '../sharing/receipts.routes.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import { iconFor, iconHeaders } from '../thumbnails/icons.ts'
import type { ThumbnailPicture, ThumbnailSize, Thumbnails } from '../thumbnails/thumbnails.ts'

const sizes: ReadonlyMap<string | null, ThumbnailSize> = new Map([
  [null, 'small'],
  ['320', 'small'],
  ['960', 'large'],
  ['large', 'screen'],
])

const documentation = {
  summary: 'Get the thumbnail of a file',
  description: 'As WebP, or an icon for its type as SVG.',
  tag: 'Public',
  params: z.object({ uuid: z.string() }),
  query: z.object({
    size: z.enum(['320', '960', 'large']).optional().openapi({
      description:
        'Pixels on the longer side, at most; 320 when it is left out. `large` is as large as a screen, 1920',
    }),
  }),
  answers: {
    200: bytesOf('image/*', 'WebP or SVG'),
    206: bytesOf('image/*', 'The range asked for'),
    304: { description: 'Not changed' },
  },
  errors: [400, 403, 404, 412, 416],
} satisfies Documentation

interface ThumbnailNeeds {
  readonly authentication: Authentication
  readonly sharing: {
    readonly access: AccessControl
    readonly linkAccess: LinkAccess
    readonly linkNames: LinkNames
  }
  readonly thumbnails: Thumbnails
  readonly files: { readonly folders: Pick<Folders, 'findCover'> }
}

export const getThumbnailEndpoint = endpoint({
  documentation,
  async handle(call, modules: ThumbnailNeeds) {
    const identifier = parseFileIdentifier(call.params.uuid ?? '')
    if (identifier.kind !== 'uuid') throw fileNotFound()
    const requester = () => modules.authentication.requester(call)
    try {
      return await answer(call, modules, requester, identifier)
    } catch (error) {
      const isMissing = error instanceof Refusal && error.code === 'FILE_NOT_FOUND'
      const cover = isMissing ? await folderCover(call, modules, requester, identifier.uuid) : null
      if (cover === null) throw error
      return cover
    }
  },
})

export const getLinkThumbnailEndpoint = endpoint({
  documentation: {
    ...documentation,
    summary: 'Get the thumbnail of a file of a link',
    params: z.object({ link: z.string(), target: z.string() }),
  },
  async handle(call, modules: Omit<ThumbnailNeeds, 'files'>) {
    const visit = await modules.sharing.linkAccess.visit(
      await modules.authentication.requester(call),
      linkVisit(call),
    )
    const { requester, link } = openedLink(visit)
    const target = modules.sharing.linkNames.read(link.id, call.params.target ?? '')
    if (target?.kind !== 'file') throw fileNotFound()
    return answer(call, modules, async () => requester, { kind: 'id', id: target.id })
  },
})

/** The sender sees what was sent, whatever the terms. */
export const getReceiptThumbnailEndpoint = endpoint({
  documentation: {
    ...documentation,
    summary: 'Get the thumbnail of a file by the receipt of its transfer',
    params: z.object({ receipt: z.string(), target: z.string() }),
  },
  async handle(call, modules: ReceiptThumbnailNeeds) {
    const transfer = await modules.uploads.receipts.transfer(receiptOf(call))
    if (transfer === null) throw fileNotFound()
    const { link_id: link } = await modules.sharing.transfers.ofGuest(transfer.id)
    const target = modules.sharing.linkNames.read(link, call.params.target ?? '')
    if (target?.kind !== 'file') throw fileNotFound()
    const rights = {
      ...{ id: link, account: GUESTS, files: new Set<FileId>(), folders: new Set([transfer.id]) },
      ...{ passwordTag: null, isLimited: false, visitor: null },
    }
    const requester = { reach: null, grants: new Map(), link: rights }
    return answer(call, modules, async () => requester, { kind: 'id', id: target.id })
  },
})

interface ReceiptThumbnailNeeds extends Pick<FilesByReceiptNeeds, 'uploads'> {
  readonly sharing: Pick<SharingModule, 'access' | 'linkNames' | 'transfers'>
  readonly thumbnails: Thumbnails
}

/** Null for an unknown UUID. Checks access. */
async function folderCover(
  call: Call,
  { files, sharing }: ThumbnailNeeds,
  requesterOf: () => Promise<Requester>,
  uuid: Uuid,
): Promise<Response | null> {
  const cover = await files.folders.findCover(uuid)
  if (cover === null) return null
  opened(await sharing.access.folder(requesterOf(), cover.folder))
  const validators = { etag: `"${uuid}"`, lastModified: null }
  const headers = pictureHeaders(validators.etag)
  const part = partToSend(call, cover.picture.byteLength, validators, headers)
  if (part instanceof Response) return part
  return new Response(cover.picture.subarray(part.start, part.end), { status: part.status, headers })
}

async function answer(
  call: Call,
  { sharing, thumbnails }: { sharing: { access: AccessControl }; thumbnails: Thumbnails },
  requesterOf: () => Promise<Requester>,
  identifier: FileIdentifier,
): Promise<Response> {
  const size = sizes.get(call.url.searchParams.get('size'))
  if (size === undefined) throw new Refusal('INVALID_REQUEST', 'size must be 320, 960 or large')
  const { item: file, viewer } = opened(await sharing.access.file(requesterOf(), identifier))
  // Limited links show no thumbnail, since it would not be counted.
  if (viewer.link?.isLimited === true) return icon(file, false)
  const shown = await thumbnails.show(file, size)
  const thumbnail = shown.kind === 'picture' ? await send(call, thumbnails, shown.picture) : null
  return thumbnail ?? icon(file, shown.kind !== 'never')
}

/** Null when the bytes are unavailable. */
async function send(call: Call, thumbnails: Thumbnails, picture: ThumbnailPicture): Promise<Response | null> {
  const validators = { etag: `"${picture.key}-${picture.start}"`, lastModified: null }
  const headers = pictureHeaders(validators.etag)
  const part = partToSend(call, picture.size, validators, headers)
  if (part instanceof Response) return part
  const bytes = await thumbnails.read(picture)
  return bytes && new Response(bytes.subarray(part.start, part.end), { status: part.status, headers })
}

function pictureHeaders(etag: string): Headers {
  return new Headers({
    'Content-Type': 'image/webp',
    'Accept-Ranges': 'bytes',
    ETag: etag,
    'Cache-Control': 'private, max-age=300',
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  })
}

/** Not cached while the thumbnail is being made. */
function icon(file: FileDetailRow, maybeLater: boolean): Response {
  return new Response(iconFor(file.type, file.name), {
    headers: { ...iconHeaders, 'Cache-Control': maybeLater ? 'private, no-cache' : 'private, max-age=300' },
  })
}
