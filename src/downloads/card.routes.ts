/** Previews of pages in chats: one JPEG of the thumbnails that the page shows. */
import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import type { Requester } from '../domain/access.ts'
import { CARD_HEIGHT, CARD_WIDTH, type CardKind, cardUrl } from '../domain/card.ts'
import { type FolderId, parseFolderIdentifier, parseSlug } from '../domain/ids.ts'
import type { FileListRow } from '../files/file-lists.rows.ts'
import type { FilesModule } from '../files/files.module.ts'
import { fileNotFound } from '../files/files.ts'
import type { FolderListRow } from '../files/folders/folders.rows.ts'
import { partToSend } from '../server/answers/part-to-send.ts'
import type { Call } from '../server/call.ts'
import { bytesOf, type Documentation, endpoint } from '../server/endpoint.ts'
import { type Opened, opened } from '../sharing/access.ts'
import { linkVisit, type OpenLink, openedLink, WHOLE_LINK } from '../sharing/links/link-access.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import type { CardPicture, Cards } from '../thumbnails/cards.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'

interface CardNeeds {
  readonly authentication: Authentication
  readonly files: Pick<FilesModule, 'folders'>
  readonly sharing: SharingModule
  readonly thumbnails: Thumbnails & { readonly cards: Cards }
}

type Pictured = Pick<FileListRow, 'id' | 'type' | 'thumbnail'>

const documentation = {
  tag: 'Site',
  answers: {
    200: bytesOf('image/jpeg', `Of ${CARD_WIDTH} × ${CARD_HEIGHT} pixels`),
    206: bytesOf('image/jpeg', 'The range asked for'),
    302: { description: 'On to a picture that shows nothing of the content, which has none or is counted' },
    304: { description: 'Not changed' },
  },
  errors: [403, 404, 412, 416],
} satisfies Partial<Documentation>

export const getFileCard = endpoint({
  documentation: {
    ...documentation,
    summary: 'Get the preview of a file',
    description: 'For chats, as JPEG: the picture, or the poster of a film.',
    params: z.object({ slug: z.string() }),
  },
  async handle(call, modules: CardNeeds) {
    const slug = parseSlug(call.params.slug ?? '')
    const requester = await modules.authentication.requester(call)
    const { item } = opened(await modules.sharing.access.file(requester, { kind: 'slug', slug }))
    return cardOfFiles(call, modules, requester, kindOf(item), [item])
  },
})

export const getFolderCard = endpoint({
  documentation: {
    ...documentation,
    summary: 'Get the preview of a folder',
    description: 'For chats, as JPEG: its cover, or the first pictures in it.',
    params: z.object({ identifier: z.string() }),
  },
  async handle(call, modules: CardNeeds) {
    const identifier = parseFolderIdentifier(call.params.identifier)
    const requester = await modules.authentication.requester(call)
    const seen = opened(await modules.sharing.access.folder(requester, identifier))
    const { cover: uuid } = seen.item
    const cover = uuid === null ? null : await modules.files.folders.findCover(uuid)
    if (uuid !== null && cover !== null) {
      return cardAnswer(call, modules, 'picture', [{ key: uuid, read: async () => cover.picture }])
    }
    return cardOfFiles(call, modules, requester, 'collection', await firstFiles(modules, seen))
  },
})

export const getLinkCard = endpoint({
  documentation: {
    ...documentation,
    summary: 'Get the preview of a link',
    description:
      'For chats, as JPEG: of a file or a folder by its name on the pages of the link, or of `all`.',
    params: z.object({ link: z.string(), target: z.string() }),
  },
  async handle(call, modules: CardNeeds) {
    const { authentication, sharing } = modules
    const visit = await sharing.linkAccess.visit(await authentication.requester(call), linkVisit(call))
    const open = openedLink(visit)
    const name = call.params.target ?? ''
    const target = name === WHOLE_LINK ? null : sharing.linkNames.read(open.link.id, name)
    if (name !== WHOLE_LINK && target === null) throw fileNotFound()
    if (open.requester.link.isLimited || open.link.uploads_into !== null) return plainCard(call)
    if (target === null) return cardOfLink(call, modules, open)
    if (target.kind === 'folder')
      return cardOfFiles(call, modules, open.requester, 'collection', await filesOf(modules, open, target.id))
    const { item } = opened(await sharing.access.file(open.requester, { kind: 'id', id: target.id }))
    return cardOfFiles(call, modules, open.requester, kindOf(item), [item])
  },
})

async function cardOfLink(call: Call, modules: CardNeeds, open: OpenLink): Promise<Response> {
  const { files, folders } = await modules.sharing.linkAccess.targets(open.link)
  const [only, another] = files
  if (only !== undefined && another === undefined && folders.length === 0) {
    return cardOfFiles(call, modules, open.requester, kindOf(only), [only])
  }
  const [folder] = folders
  const below = folder === undefined ? [] : await filesOf(modules, open, folder.id)
  return cardOfFiles(call, modules, open.requester, 'collection', [...files, ...below])
}

async function filesOf(modules: CardNeeds, open: OpenLink, folder: FolderId): Promise<readonly Pictured[]> {
  return firstFiles(modules, opened(await modules.sharing.access.folder(open.requester, folder)))
}

/** Of the first page, and where it has folders alone, of the first of them that opens. */
async function firstFiles(
  { sharing }: Pick<CardNeeds, 'sharing'>,
  { item, viewer }: Opened<FolderListRow>,
): Promise<readonly Pictured[]> {
  const contentsOf = (folder: FolderListRow) =>
    sharing.publicFolders.contents(folder, {
      page: 1,
      showsPrivate: viewer.link != null,
      folders: { sort: 'name', order: 'asc' },
      files: { sort: 'name', order: 'asc' },
    })
  const { files, folders } = await contentsOf(item)
  const inner = files.length > 0 ? undefined : folders.find((folder) => sharing.access.opens(viewer, folder))
  return inner === undefined ? files : (await contentsOf(inner)).files
}

function kindOf({ type }: { readonly type: string }): CardKind {
  return type.startsWith('video/') ? 'film' : 'picture'
}

/** Requests thumbnails that are missing. */
async function cardOfFiles(
  call: Call,
  modules: Pick<CardNeeds, 'sharing' | 'thumbnails'>,
  requester: Requester,
  kind: CardKind,
  files: readonly Pictured[],
): Promise<Response> {
  const { sharing, thumbnails } = modules
  const shown = files.filter((file) => thumbnails.shows(file)).slice(0, thumbnails.cards.most)
  const pictures: CardPicture[] = []
  for (const { id } of shown) {
    const { item } = opened(await sharing.access.file(requester, { kind: 'id', id }))
    const answer = await thumbnails.show(item, 'large')
    if (answer.kind !== 'picture') continue
    const { picture } = answer
    pictures.push({ key: `${picture.key}-${picture.start}`, read: () => thumbnails.read(picture) })
  }
  return cardAnswer(call, modules, kind, pictures)
}

async function cardAnswer(
  call: Call,
  { thumbnails }: Pick<CardNeeds, 'thumbnails'>,
  kind: CardKind,
  pictures: readonly CardPicture[],
): Promise<Response> {
  const card = await thumbnails.cards.make(kind, pictures)
  if (card === null) return plainCard(call)
  const etag = `"${new Bun.CryptoHasher('sha256')
    .update(pictures.map(({ key }) => key).join())
    .digest('hex')
    .slice(0, 16)}"`
  const headers = new Headers({
    'Content-Type': 'image/jpeg',
    'Accept-Ranges': 'bytes',
    ETag: etag,
    'Cache-Control': 'private, max-age=300',
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  })
  const part = partToSend(call, card.byteLength, { etag, lastModified: null }, headers)
  if (part instanceof Response) return part
  return new Response(card.slice(part.start, part.end), { status: part.status, headers })
}

function plainCard({ site }: Call): Response {
  return new Response(null, {
    status: 302,
    headers: { Location: cardUrl(site.publicUrl, null), 'Cache-Control': 'private, max-age=60' },
  })
}
