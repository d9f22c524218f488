import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import type { Requester } from '../domain/access.ts'
import { MINUTE } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'
import { parseSlug, type Slug } from '../domain/ids.ts'
import type { Call } from '../server/call.ts'
import { endpoint } from '../server/endpoint.ts'
import { cookieValue } from '../server/requests/browser.ts'
import { type AccessControl, opened, WAYS_COOKIE } from '../sharing/access.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import { thumbnailPath } from '../thumbnails/thumbnails.ts'
import type { ArrivingPageView } from './arriving-view.ts'
import { barrierOf } from './barrier.ts'
import { askedBytes, type FileViewNeeds, fileView, redirectToBytes } from './file-view.ts'
import { lockedFolderPage, passwordForm } from './folder-password.ts'
import { seeOther } from './page-reader.ts'
import type { PagesModule } from './pages.module.ts'
import { page } from './pages.routes.ts'

interface FilePageNeeds extends FileViewNeeds {
  readonly authentication: Authentication
  readonly pages: PagesModule
  readonly sharing: SharingModule
}

export const getFilePage = endpoint({
  documentation: {
    summary: 'Open a file',
    description:
      'Its page. With ?download=1 on to its bytes, and with &wait=1 also to those of a file that is still arriving, as they come; with ?view=1 on to be shown by another site, with ?raw=1 as plain text.',
    tag: 'Site',
    params: z.object({ slug: z.string() }),
    query: z.object({
      download: z.string().optional(),
      view: z.string().optional(),
      raw: z.string().optional(),
      wait: z.enum(['1']).optional(),
    }),
    answers: {
      200: { description: 'A page, or a file that is still arriving' },
      206: { description: 'The range asked for of a file that is still arriving' },
      303: { description: 'To the page of the file, which is there by now' },
      302: { description: 'On to the signed address' },
    },
    errors: [403, 404, 416, 429],
  },
  streams: 'out',
  async handle(call, { authentication, downloads, files, pages, sharing, thumbnails }: FilePageNeeds) {
    const requester = await authentication.requester(call)
    const reader = await pages.reader(call)
    const slug = parseSlug(call.params.slug)
    const bytes = askedBytes(call.url)
    if (bytes === 'download' && mayWait(call)) {
      const asking = () => authentication.requester(call)
      const response = await arrivingBytes(call, { downloads, files, sharing }, asking, slug)
      if (response !== null) return response
    }
    const seen = await sharing.access.file(requester, { kind: 'slug', slug }).catch((error: unknown) => {
      if (bytes !== null || !isArriving(error)) throw error
      return null
    })
    if (seen === null) {
      const view = await arrivingView(call, { downloads, sharing }, { requester, slug, path: `/d/${slug}` })
      // Stored meanwhile.
      if (view === null) return seeOther(`/d/${slug}`)
      return page(call.site, pages.render.arrivingPage(view, reader))
    }
    if (bytes !== null) return redirectToBytes(call, downloads.contentTokens, requester, opened(seen), bytes)
    if (seen.kind === 'locked')
      return passwordForm(call, { pages, sharing }, lockedFolderPage(seen.folder), `/d/${slug}`, null)
    const { item: file, viewer } = seen
    const isOwner = viewer.account === file.account_id
    const ways = cookieValue(call.request, WAYS_COOKIE)
    const folder = (isOwner ? seen.chain : sharing.waysUp.shown(ways, seen.chain)).at(-1)
    const place = {
      path: `/d/${file.slug}`,
      thumbnail: thumbnailPath(file.uuid),
      card: `/d/${file.slug}`,
      folder: folder === undefined ? null : { name: folder.name, url: `/f/${folder.identifier}` },
      reportUrl: isOwner ? null : `/d/${file.slug}/report`,
      barrier: isOwner ? barrierOf(seen.chain) : null,
      notice: null,
      downloadForm: null,
      showsContent: true,
    }
    const view = await fileView(call, { downloads, files, thumbnails }, { requester, seen, place })
    return page(call.site, pages.render.filePage(view, reader), view.damage === null ? 200 : 500)
  },
})

/** `path`: where its bytes may be had as they come; null for nowhere. Null where it is stored meanwhile. */
export async function arrivingView(
  call: Call,
  { downloads, sharing }: Pick<FilePageNeeds, 'downloads' | 'sharing'>,
  {
    requester,
    slug,
    path,
  }: { readonly requester: Requester; readonly slug: Slug; readonly path: string | null },
): Promise<ArrivingPageView | null> {
  const upload = await sharing.access.arriving(requester, { kind: 'slug', slug })
  if (upload === null) return null
  const { id, name, received, size, used_at } = opened(upload).item
  const stalledFor = stalledMinutes(call.site.clock.now() - used_at)
  const isReadable = path !== null && (await downloads.arrivals.canSend({ id }))
  return { name, stalledFor, received, size, downloadUrl: isReadable ? `${path}?download=1&wait=1` : null }
}

/** A slow connection may take a minute for as much as is recorded at once. */
const STALLED = 2 * MINUTE

function stalledMinutes(quiet: number): number | null {
  return quiet < STALLED ? null : Math.floor(quiet / MINUTE)
}

function isArriving(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'FILE_ARRIVING'
}

function mayWait({ request, url }: Call): boolean {
  return request.method === 'GET' && url.searchParams.get('wait') === '1'
}

/** Null where no upload is running any more. `asking`: called again while bytes are sent. */
export async function arrivingBytes(
  call: Call,
  modules: Pick<FilePageNeeds, 'downloads' | 'files' | 'sharing'>,
  asking: () => Promise<Requester>,
  slug: Slug,
): Promise<Response | null> {
  const { downloads, files, sharing } = modules
  const seen = await sharing.access.arriving(await asking(), { kind: 'slug', slug })
  if (seen === null) return null
  const { item: upload, viewer } = opened(seen)
  const isOwner = viewer.account === upload.account_id
  return downloads.arrivals.send(call, upload, {
    isLetIn: async () => isOpenTo(sharing.access, await asking(), slug),
    taken(file) {
      files.usage.fileUsed(file, isOwner ? null : 'download')
    },
  })
}

async function isOpenTo(access: AccessControl, requester: Requester, slug: Slug): Promise<boolean> {
  const name = { kind: 'slug', slug } as const
  try {
    const seen = (await access.arriving(requester, name)) ?? (await access.file(requester, name))
    return seen.kind === 'open'
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
