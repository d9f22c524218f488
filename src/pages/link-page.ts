import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import { cardUrl } from '../domain/card.ts'
import type { FileId, FolderId, Slug } from '../domain/ids.ts'
import { sortedByName } from '../domain/sort-key.ts'
import { stillArriving } from '../downloads/arrivals.ts'
import type { Presentation } from '../downloads/content-tokens.ts'
import type { DownloadsModule } from '../downloads/downloads.module.ts'
import { archiveAnswers, archiveName, archiveReader, sendArchive } from '../downloads/zip/archives.routes.ts'
import type { FileListRow } from '../files/file-lists.rows.ts'
import type { FilesModule } from '../files/files.module.ts'
import { fileNotFound } from '../files/files.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { readForm } from '../server/requests/body.ts'
import { setCookie, withCookies } from '../server/requests/browser.ts'
import { opened } from '../sharing/access.ts'
import {
  isPreview,
  type LinkTarget,
  type LinkTargets,
  linkPath,
  linkVisit,
  type OpenLink,
  openedLink,
  VISITOR_COOKIE,
  type VisitedLink,
  WHOLE_LINK,
} from '../sharing/links/link-access.ts'
import { CLAIMED_FOR } from '../sharing/links/link-slots.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import { arrivingBytes, arrivingView } from './file-page.ts'
import { askedBytes, fileView, redirectToBytes } from './file-view.ts'
import { fileItems, folderPage } from './folder-contents.ts'
import { toArchive } from './folder-page.ts'
import { ofPasswordForm, passwordForm, unlocking } from './folder-password.ts'
import { FILE_SORTS, type FolderOrder, readFolderQuery } from './folder-query.ts'
import { defaultViewMode, rememberedViewMode, rememberViewMode } from './folder-view-mode.ts'
import { endOf, type LinkPlace, linkFolderPlace, linkPlace } from './link-place.ts'
import { seeOther } from './page-reader.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'
import type { FolderPageView, UploadLinkView } from './views.ts'

interface LinkPageNeeds {
  readonly authentication: Authentication
  readonly downloads: DownloadsModule
  readonly files: FilesModule
  readonly pages: PagesModule
  readonly sharing: SharingModule
  readonly thumbnails: Thumbnails
}

const query = z.object({
  page: z.string().optional(),
  sort: z.enum(FILE_SORTS).optional(),
  order: z.enum(['asc', 'desc']).optional(),
  view: z.enum(['list', 'gallery', '1']).optional(),
  download: z.enum(['1', 'zip']).optional(),
  raw: z.enum(['1']).optional(),
  wait: z.enum(['1']).optional(),
  place: z
    .string()
    .optional()
    .openapi({ description: 'The place that the form of a limited link has taken' }),
})

const answers = {
  ...archiveAnswers,
  200: { description: 'A page, or a ZIP file' },
  302: { description: 'On to the signed address of a file' },
  303: { description: 'On to the page, in the order that was asked for' },
}

export const getLinkPage = endpoint({
  documentation: {
    summary: 'Open a link',
    description:
      'Its page. Where it opens one file, ?download=1 leads on to its bytes, and ?view=1 or ?raw=1 to be shown by another site or as plain text; where it opens a folder or several things, ?download=zip is all of it as one ZIP file. A transfer of one file is that file; with ?download=1&wait=1 a file that is still arriving is sent as it comes.',
    tag: 'Site',
    params: z.object({ link: z.string() }),
    query,
    answers,
    errors: [403, 404, 412, 416],
  },
  streams: 'out',
  handle: (call, modules: LinkPageNeeds) => linkAnswer(call, modules, null),
})

export const getLinkTargetPage = endpoint({
  documentation: {
    summary: 'Open a file or folder of a link',
    description: 'By its name on the pages of the link, with the parameters of the link.',
    tag: 'Site',
    params: z.object({ link: z.string(), target: z.string() }),
    query,
    answers,
    errors: [403, 404, 412, 416],
  },
  streams: 'out',
  handle: (call, modules: LinkPageNeeds) => linkAnswer(call, modules, call.params.target ?? ''),
})

export const postLinkPassword = endpoint({
  documentation: {
    summary: 'Unlock a link by its password',
    params: z.object({ link: z.string() }),
    ...ofPasswordForm,
  },
  async handle(call, modules: Pick<LinkPageNeeds, 'authentication' | 'pages' | 'sharing'>) {
    const visited = await visitedLink(call, modules)
    const form = await readForm(call)
    const action = linkPath(visited.link.slug)
    const next = nextPath(form.get('next'), action)
    if (visited.kind === 'open') return seeOther(next)
    const password = form.get('password') ?? ''
    return unlocking(call, modules, { closed: visited.closed, action, next, password })
  },
})

export const postLinkDownload = endpoint({
  documentation: {
    summary: 'Take a place of a link and download',
    description:
      'By the form of a page of a link with a number of downloads: of a file or a folder by its name on the pages of the link, or `all`. The place is free again when no byte is asked for within two minutes.',
    tag: 'Site',
    params: z.object({ link: z.string(), target: z.string() }),
    body: {
      type: 'application/x-www-form-urlencoded',
      schema: z.object({
        once: z.string().optional().openapi({
          description: 'Of the page; the same value is the same place',
          example: 'pLq2mQ8cT0u5ZkX1rV9wAg',
        }),
      }),
    },
    answers: { 303: { description: 'On to the bytes, at an address that is bound to the place' } },
    errors: [400, 403, 404, 413],
  },
  async handle(call, modules: Pick<LinkPageNeeds, 'authentication' | 'downloads' | 'sharing'>) {
    const form = await readForm(call)
    const visited = await visitedLink(call, modules, form.get('once'))
    if (visited.kind === 'locked') return seeOther(linkPath(visited.link.slug))
    return takePlace(call, modules, visited)
  },
})

async function takePlace(
  call: Call,
  { downloads, sharing }: Pick<LinkPageNeeds, 'downloads' | 'sharing'>,
  { link, requester }: OpenLink,
): Promise<Response> {
  const name = call.params.target ?? ''
  const target = name === WHOLE_LINK ? null : sharing.linkNames.read(link.id, name)
  if (name !== WHOLE_LINK && target === null) throw fileNotFound()
  if (target?.kind === 'file') {
    const seen = opened(await sharing.access.file(requester, { kind: 'id', id: target.id }))
    await sharing.linkClaims.reserve(requester.link)
    return redirectToBytes(call, downloads.contentTokens, requester, seen, 'download', 303)
  }
  if (target !== null) opened(await sharing.access.folder(requester, target.id))
  await sharing.linkClaims.reserve(requester.link)
  const path = linkPath(link.slug, target === null ? undefined : name)
  const place = sharing.linkAccess.placeOf(requester.link)
  return seeOther(`${path}?download=zip${place === null ? '' : `&place=${place}`}`)
}

async function visitedLink(
  call: Call,
  { authentication, sharing }: Pick<LinkPageNeeds, 'authentication' | 'sharing'>,
  once: string | null = null,
): Promise<VisitedLink> {
  return sharing.linkAccess.visit(await authentication.requester(call), linkVisit(call, once))
}

/** `name`: null for the whole link. Throws Refusal FILE_NOT_FOUND for a foreign name. */
async function linkAnswer(call: Call, modules: LinkPageNeeds, name: string | null): Promise<Response> {
  const visited = await visitedLink(call, modules)
  if (visited.kind === 'locked' && wants(call).bytes === null && !wants(call).archive) {
    const action = linkPath(visited.link.slug)
    const next = nextPath(call.url.pathname, action)
    return passwordForm(call, modules, { lock: visited.closed.lock, action }, next, null)
  }
  const open = openedLink(visited)
  if (open.link.transfer !== null && !isPreview(call.request))
    modules.files.usage.transferUsed(open.link.transfer)
  const arrival = await modules.sharing.linkAccess.arrival(open.link, name)
  if (arrival?.kind === 'arriving') return arrivingAnswer(call, modules, open, arrival.slug)
  const target = arrival ?? (name === null ? null : modules.sharing.linkNames.read(open.link.id, name))
  if (name !== null && target === null) throw fileNotFound()
  if (open.link.uploads_into !== null && name === null && !wants(call).bytes && !wants(call).archive) {
    return uploadLinkPage(call, modules, open)
  }
  const targets = await modules.sharing.linkAccess.targets(open.link)
  const { isLimited } = open.requester.link
  const taken = isLimited ? await modules.sharing.linkClaims.count(open.link.id) : 0
  const isShown = name === null && !wants(call).archive && wants(call).bytes === null
  const place = linkPlace(
    open,
    targets,
    {
      thumbnails: modules.thumbnails,
      names: modules.sharing.linkNames,
      publicUrl: call.site.publicUrl,
      content: isShown ? await modules.sharing.linkAccess.content(targets) : null,
      now: call.site.clock.now(),
    },
    taken,
  )
  // A chat program's preview takes no slot, so it gets the page alone.
  const wish = isLimited && isPreview(call.request) ? { bytes: null, archive: false } : wants(call)
  const response = await answerFor(call, modules, { open, place, wish, target: target ?? place.only })
  if (isLimited) rememberVisitor(call, open, response)
  return response
}

/** A page, or with ?download=1&wait=1 the bytes as they come; those of a number of downloads wait for all. */
async function arrivingAnswer(
  call: Call,
  modules: LinkPageNeeds,
  { requester }: OpenLink,
  slug: Slug,
): Promise<Response> {
  const { isLimited } = requester.link
  const wish = wants(call)
  if (wish.bytes === 'download' && !isLimited && call.url.searchParams.get('wait') === '1') {
    const again = async () => openedLink(await visitedLink(call, modules)).requester
    const response = await arrivingBytes(call, modules, again, slug)
    // Stored meanwhile: the same address has the file.
    return response ?? seeOther(call.url.pathname + call.url.search)
  }
  if (wish.bytes !== null || wish.archive) throw stillArriving()
  const path = isLimited ? null : call.url.pathname
  const view = await arrivingView(call, modules, { requester, slug, path })
  if (view === null) return seeOther(call.url.pathname)
  return page(call.site, modules.pages.render.arrivingPage(view, await modules.pages.reader(call)))
}

interface LinkQuestion {
  readonly open: OpenLink
  readonly place: LinkPlace
  readonly wish: { readonly bytes: Presentation | null; readonly archive: boolean }
  readonly target: LinkTarget | null
}

function answerFor(call: Call, modules: LinkPageNeeds, question: LinkQuestion): Promise<Response> {
  const { place, target, wish } = question
  if (target?.kind === 'file') return fileAnswer(call, modules, question, target.id)
  if (target?.kind === 'folder') return folderAnswer(call, modules, question, target.id)
  return wish.archive ? bundleArchive(call, modules, question) : bundlePage(call, modules, place)
}

function rememberVisitor(call: Call, { link, newName }: OpenLink, response: Response): void {
  if (newName === null) return
  const visitor = { name: VISITOR_COOKIE, value: newName, lasts: CLAIMED_FOR, path: linkPath(link.slug) }
  withCookies(response, [setCookie(call.site, visitor)])
}

async function fileAnswer(
  call: Call,
  modules: LinkPageNeeds,
  { open: { requester }, place, wish }: LinkQuestion,
  id: FileId,
): Promise<Response> {
  const seen = opened(await modules.sharing.access.file(requester, { kind: 'id', id }))
  if (wish.bytes !== null) {
    return redirectToBytes(call, modules.downloads.contentTokens, requester, seen, wish.bytes)
  }
  const folder = seen.chain.at(-1)
  const view = await fileView(call, modules, {
    requester,
    seen,
    place: {
      path: place.pathOf({ kind: 'file', id }),
      thumbnail: place.thumbnailOf({ id }),
      card: place.cardOf({ kind: 'file', id }),
      folder:
        folder === undefined || place.only?.kind === 'file'
          ? place.top
          : { name: place.nameOf(folder), url: place.pathOf({ kind: 'folder', id: folder.id }) },
      reportUrl: requester.link.visitor === null ? null : place.reportOf(id),
      barrier: null,
      notice: place.notice,
      downloadForm: place.formFor({ kind: 'file', id }),
      showsContent: !requester.link.isLimited,
    },
  })
  const html = modules.pages.render.filePage(view, await modules.pages.reader(call))
  return page(call.site, html, view.damage === null ? 200 : 500)
}

async function folderAnswer(
  call: Call,
  modules: LinkPageNeeds,
  { open: { requester }, place, wish }: LinkQuestion,
  folder: FolderId,
): Promise<Response> {
  const seen = opened(await modules.sharing.access.folder(requester, folder))
  if (wish.archive) {
    const what = { file: { id: null, name: archiveName(seen.item.name) }, address: call.address }
    const claims = modules.sharing.linkClaims.of(requester.link, !isPreview(call.request), what)
    return toArchive(call, modules, seen, claims)
  }
  return folderPage(call, modules, seen, linkFolderPlace(place, seen))
}

async function bundleArchive(
  call: Call,
  { downloads, files, sharing }: Pick<LinkPageNeeds, 'downloads' | 'files' | 'sharing'>,
  { open: { requester }, place: { targets, title } }: LinkQuestion,
): Promise<Response> {
  const archive = await downloads.archives.selection(archiveReader(call), requester, {
    files: targets.files.map(({ id }) => id),
    folders: targets.folders.map(({ id }) => id),
  })
  const isOwner = requester.link.visitor === null
  const what = { file: { id: null, name: archiveName(title) }, address: call.address }
  const claims = sharing.linkClaims.of(requester.link, !isPreview(call.request), what)
  return sendArchive(call, files.usage, archive, { folder: title, isOwner, claims })
}

function wants({ url }: Call): LinkQuestion['wish'] {
  return { bytes: askedBytes(url), archive: url.searchParams.get('download') === 'zip' }
}

/** Restricts the redirect to pages of this link. */
function nextPath(text: string | null, path: string): string {
  const rest = text?.startsWith(`${path}/`) === true ? text.slice(path.length + 1) : ''
  return /^[a-f0-9-]+$/.test(rest) ? `${path}/${rest}` : path
}

async function bundlePage(
  call: Call,
  { pages, thumbnails }: Pick<LinkPageNeeds, 'pages' | 'thumbnails'>,
  place: LinkPlace,
): Promise<Response> {
  const { targets, pathOf, pictureOf } = place
  const query = { ...readFolderQuery(call.url.searchParams, null), page: 1 }
  const files = await fileItems(thumbnails, ordered(targets.files, query), {
    fileAt: ({ id }) => pathOf({ kind: 'file', id }),
    pictureOf,
  })
  const view: FolderPageView = {
    name: place.top?.name ?? null,
    url: call.site.publicUrl + place.path,
    cardUrl: cardUrl(call.site.publicUrl, place.formFor(null) === null ? place.cardOf(null) : null),
    above: [],
    folders: targets.folders.map(({ id, name, file_count: fileCount }) => ({
      name,
      url: pathOf({ kind: 'folder', id }),
      fileCount,
    })),
    files,
    folderCount: targets.folders.length,
    fileCount: files.length,
    facts: null,
    cover: null,
    totals: totalsOf(targets),
    query,
    look: query.look ?? rememberedViewMode(call.request) ?? defaultViewMode(files),
    pages: 1,
    firstFilePage: 1,
    filesBefore: 0,
    barrier: null,
    notice: place.notice,
    downloadForm: place.formFor(null),
  }
  return rememberViewMode(call, pages, view)
}

function ordered(files: readonly FileListRow[], { sort, order }: FolderOrder): readonly FileListRow[] {
  const growing =
    sort === 'name'
      ? sortedByName(files, ({ name }) => name)
      : files.toSorted((a, b) => a[sort] - b[sort] || a.id - b.id)
  return order === 'asc' ? growing : growing.toReversed()
}

/** A target inside a chosen folder counts twice, as it is twice in the zip. */
function totalsOf({ files, folders }: LinkTargets): { readonly files: number; readonly bytes: number } {
  return {
    files: files.length + folders.reduce((sum, { tree_files }) => sum + tree_files, 0),
    bytes:
      files.reduce((sum, { size }) => sum + size, 0) +
      folders.reduce((sum, { tree_bytes }) => sum + tree_bytes, 0),
  }
}

/** Reveals nothing about the folder. */
async function uploadLinkPage(
  call: Call,
  {
    pages,
    sharing,
  }: { readonly pages: PagesModule; readonly sharing: Pick<SharingModule, 'linkContributors'> },
  { link }: Pick<OpenLink, 'link'>,
): Promise<Response> {
  const { owner, terms, isFull, filesLeft } = await sharing.linkContributors.asking(link)
  const { maxFileSize } = call.site.config
  const view: UploadLinkView = {
    slug: link.slug,
    owner,
    notice: {
      name: link.name,
      sender: null,
      content: null,
      arrived: null,
      message: link.message,
      ...endOf(link, call.site.clock.now()),
      left: null,
      opensOnce: false,
    },
    fields: terms.fields,
    types: terms.types,
    maxFileSize: Math.min(maxFileSize, terms.maxFileSize ?? maxFileSize, terms.maxSize ?? maxFileSize),
    isFull,
    filesLeft,
  }
  return page(call.site, pages.render.uploadLinkPage(view, await pages.reader(call)))
}
