import { z } from '@hono/zod-openapi'
import { Refusal } from '../../domain/errors.ts'
import { parseFileIdentifier } from '../../domain/ids.ts'
import { fileNotFound, unlocked } from '../../services/access.ts'
import type { FileDetail } from '../../services/files.ts'
import type { ThumbnailPicture, ThumbnailSize } from '../../services/thumbnails.ts'
import { askerOf, type Call } from '../call.ts'
import { bytesOf, type Route } from '../route.ts'
import { iconFor, iconHeaders } from './icons.ts'
import { partToSend } from './part.ts'

/** By the value of `size`: pixels on the longer side, or as large as a screen. */
const sizes: ReadonlyMap<string | null, ThumbnailSize> = new Map([
  [null, 'small'],
  ['320', 'small'],
  ['960', 'large'],
  ['large', 'screen'],
])

export const getThumbnail: Route = {
  method: 'get',
  path: '/t/{uuid}',
  host: 'any',
  auth: 'none',
  documentation: {
    summary: 'A picture for the file: its thumbnail as WebP, or an icon for its type as SVG',
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
  },
  async handle(call) {
    const identifier = parseFileIdentifier(call.params.uuid ?? '')
    if (identifier.kind !== 'uuid') throw fileNotFound()
    const size = sizes.get(call.url.searchParams.get('size'))
    if (size === undefined) throw new Refusal('INVALID_REQUEST', 'size must be 320, 960 or large')
    const file = unlocked(await call.site.services.access.file(await askerOf(call), identifier))
    const shown = await call.site.services.thumbnails.show(file, size)
    const thumbnail = shown.kind === 'picture' ? await send(call, shown.picture) : null
    return thumbnail ?? icon(file, shown.kind !== 'never')
  },
}

/** Null when the bytes cannot be had. */
async function send(call: Call, picture: ThumbnailPicture): Promise<Response | null> {
  const validators = { etag: `"${picture.key}-${picture.start}"`, lastModified: null }
  const headers = new Headers({
    'Content-Type': 'image/webp',
    'Accept-Ranges': 'bytes',
    ETag: validators.etag,
    'Cache-Control': 'private, max-age=300',
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  })
  const part = partToSend(call, picture.size, validators, headers)
  if (part instanceof Response) return part
  const bytes = await call.site.services.thumbnails.read(picture)
  return bytes && new Response(bytes.subarray(part.start, part.end), { status: part.status, headers })
}

/** Whoever shows an icon in the place of a picture that is being made asks again the next time. */
function icon(file: FileDetail, maybeLater: boolean): Response {
  return new Response(iconFor(file.type, file.name), {
    headers: { ...iconHeaders, 'Cache-Control': maybeLater ? 'private, no-cache' : 'private, max-age=300' },
  })
}
