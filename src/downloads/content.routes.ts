import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import { signedAddress } from '../contract/public.ts'
import { isOwnerView, type Requester } from '../domain/access.ts'
import { Refusal } from '../domain/errors.ts'
import { parseSlug } from '../domain/ids.ts'
import type { FilesModule } from '../files/files.module.ts'
import { bytesOf, endpoint, openEndpoint } from '../server/endpoint.ts'
import { opened } from '../sharing/access.ts'
import { isPreview } from '../sharing/links/link-access.ts'
import type { SharingModule } from '../sharing/sharing.module.ts'
import { CONTENT_TOKEN_LIFETIME } from './content-tokens.ts'
import type { DownloadsModule } from './downloads.module.ts'
import { sendFile } from './send.ts'

const FILE = '8d5f3c1e-2a47-4b8c-9f60-1e7d3b5a9c24.jpg'

function signing(to: 'download' | 'show', query: string) {
  return openEndpoint({
    summary: `Get a signed address to ${to} a file`,
    description: `The bytes are at <server>/v2/<file>?${query}.`,
    tag: 'Public',
    body: z.object({ file_slug: z.string('must be the slug of the file') }),
    answer: signedAddress,
    errors: [400, 403, 404, 413],
    async handle(
      { call, body },
      {
        authentication,
        downloads,
        sharing,
      }: { authentication: Authentication; downloads: DownloadsModule; sharing: SharingModule },
    ) {
      const requester = authentication.requester(call)
      const seen = opened(
        await sharing.access.file(requester, { kind: 'slug', slug: parseSlug(body.file_slug) }),
      )
      const use = { counted: false, lifetime: CONTENT_TOKEN_LIFETIME }
      const { file, token } = downloads.contentTokens.issue(await requester, seen, use)
      return {
        success: true,
        expires_in: CONTENT_TOKEN_LIFETIME,
        file,
        name: seen.item.name,
        server: call.site.contentUrl,
        token,
      }
    },
  })
}

export const signDownloadEndpoint = signing('download', 'token=…&download=true')

export const signViewEndpoint = signing('show', 'token=…')

export const getContentEndpoint = endpoint({
  documentation: {
    summary: 'Get the bytes of a file',
    description: 'At its signed address.',
    tag: 'Public',
    params: z.object({
      file: z
        .string()
        .openapi({ description: 'As it was signed: <uuid>.<ext>, or by a link <name>.<ext>', example: FILE }),
    }),
    query: z.object({
      token: z.string(),
      download: z.enum(['true']).optional(),
      raw: z.enum(['true']).optional().openapi({ description: 'Shown as plain text, whatever it is' }),
    }),
    answers: {
      200: bytesOf('*/*', 'The file, of its own type'),
      206: bytesOf('*/*', 'The range asked for'),
      304: { description: 'Not changed' },
    },
    errors: [400, 403, 404, 412, 416],
  },
  async handle(
    call,
    {
      authentication,
      downloads,
      files,
      sharing,
    }: {
      authentication: Authentication
      downloads: DownloadsModule
      files: FilesModule
      sharing: SharingModule
    },
  ) {
    if (isScriptLikeRequest(call.request)) {
      throw new Refusal(
        'INVALID_REQUEST',
        'Uploaded files cannot be loaded as scripts or styles of this site',
      )
    }
    const token = call.url.searchParams.get('token') ?? ''
    const read = downloads.contentTokens.read(token, call.params.file ?? '')
    const { identifier, requester: signed, link, counted } = read
    const requesterOf = async () => {
      const present = await authentication.requester(call)
      const requester = together(await sharing.access.signed(signed, call.caller), present)
      return link === null ? requester : sharing.linkAccess.signed(requester, link)
    }
    const seen = opened(await sharing.access.file(requesterOf(), identifier))
    const { item: file, viewer } = seen
    const download = call.url.searchParams.get('download') === 'true'
    const isRaw = call.url.searchParams.get('raw') === 'true'
    return sendFile(call, downloads.content, file, {
      as: download ? 'download' : isRaw ? 'raw' : 'view',
      mayRedirect: download && seen.isForAnybody && link === null,
      claims: sharing.linkClaims.of(viewer.link, download && !isPreview(call.request), {
        file: { id: file.id, name: file.name },
        address: call.address,
      }),
      began() {
        const isOwner = isOwnerView(viewer, file.account_id)
        return files.usage.fileUsed(file.id, isOwner || counted ? null : download ? 'download' : 'view')
      },
    })
  },
})

function together(signed: Requester, present: Requester): Requester {
  return {
    reach: present.reach,
    grants: new Map([...signed.grants, ...present.grants]),
    signed: signed.signed ?? null,
  }
}

/** Sec-Fetch-Dest of answers that a browser runs, or that change a page. */
const RUNNING: ReadonlySet<string> = new Set([
  'audioworklet',
  'paintworklet',
  'script',
  'serviceworker',
  'sharedworker',
  'style',
  'worker',
  'xslt',
])

/** Pages may load scripts from this origin, so uploads must never be served as one. */
function isScriptLikeRequest({ headers }: Request): boolean {
  return headers.get('sec-fetch-site') === 'same-origin' && RUNNING.has(headers.get('sec-fetch-dest') ?? '')
}
