import { z } from '@hono/zod-openapi'
import type { Asker } from '../../domain/access.ts'
import { Refusal } from '../../domain/errors.ts'
import { parseFileIdentifier, type Slug } from '../../domain/ids.ts'
import { fileNotFound, opened, unlocked } from '../../services/access.ts'
import { CONTENT_TOKEN_LIFETIME } from '../../services/content-tokens.ts'
import { askerOf } from '../call.ts'
import { bytesOf, openRoute, type Route } from '../route.ts'
import { contentName } from './addresses.ts'
import { isToRunHere } from './running.ts'
import { sendFile } from './send.ts'

const FILE = '8d5f3c1e-2a47-4b8c-9f60-1e7d3b5a9c24.jpg'

const signedAddress = z
  .object({
    success: z.literal(true),
    expires_in: z.number().int().openapi({ description: 'Seconds' }),
    file: z.string().openapi({ example: FILE }),
    name: z.string(),
    server: z.string(),
    token: z.string(),
  })
  .openapi('SignedAddress')

function signingRoute(path: string, summary: string): Route {
  return openRoute({
    method: 'post',
    path,
    summary,
    tag: 'Public',
    body: z.object({ file_slug: z.string('must be the slug of the file') }),
    answer: signedAddress,
    errors: [400, 403, 404, 413],
    async handle({ call, body }) {
      const { access, contentTokens } = call.site.services
      const asker = await askerOf(call)
      const file = unlocked(await access.file(asker, { kind: 'slug', slug: body.file_slug as Slug }))
      return {
        success: true,
        expires_in: CONTENT_TOKEN_LIFETIME,
        file: contentName(file),
        name: file.name,
        server: call.site.contentUrl,
        token: contentTokens.issue(asker, file.uuid, {
          counted: false,
          proxied: false,
          lifetime: CONTENT_TOKEN_LIFETIME,
        }),
      }
    },
  })
}

export const signDownload = signingRoute(
  '/v2/api/public/download',
  'Get a signed address to download a file; the bytes are at <server>/v2/<file>?token=…&download=true',
)

export const signView = signingRoute(
  '/v2/api/public/view',
  'Get a signed address to show a file; the bytes are at <server>/v2/<file>?token=…',
)

export const getContent: Route = {
  method: 'get',
  path: '/v2/{file}',
  auth: 'none',
  documentation: {
    summary: 'The bytes of a file at its signed address',
    tag: 'Public',
    params: z.object({ file: z.string().openapi({ description: '<uuid>.<ext>', example: FILE }) }),
    query: z.object({ token: z.string(), download: z.enum(['true']).optional() }),
    answers: {
      200: bytesOf('*/*', 'The file, of its own type'),
      206: bytesOf('*/*', 'The range asked for'),
      304: { description: 'Not changed' },
    },
    errors: [400, 403, 404, 412, 416],
  },
  streams: 'out of S3',
  host: 'content',
  async handle(call) {
    if (isToRunHere(call.request)) {
      throw new Refusal(
        'INVALID_REQUEST',
        'Uploaded files cannot be loaded as scripts or styles of this site',
      )
    }
    const { access, contentTokens, usage } = call.site.services
    const [uuid] = (call.params.file ?? '').split('.')
    const identifier = parseFileIdentifier(uuid ?? '')
    if (identifier.kind !== 'uuid') throw fileNotFound()
    const token = call.url.searchParams.get('token') ?? ''
    const { asker: signed, counted, proxied } = contentTokens.read(token, identifier.uuid)
    const asker = together(await access.signed(signed), await askerOf(call))
    const { item: file, viewer } = opened(await access.file(asker, identifier))
    const download = call.url.searchParams.get('download') === 'true'
    return sendFile(call, file, {
      disposition: download ? 'attachment' : 'inline',
      proxied,
      began() {
        const isOwner = viewer.account === file.account_id
        return usage.fileUsed(file.id, isOwner || counted ? null : download ? 'download' : 'view')
      },
    })
  },
}

/** What the token grants, and what the request itself brings besides. */
function together(signed: Asker, present: Asker): Asker {
  return {
    reach: signed.reach ?? present.reach,
    grants: new Map([...signed.grants, ...present.grants]),
  }
}
