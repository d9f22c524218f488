import { z } from '@hono/zod-openapi'
import type { Authentication } from '../accounts/authentication.ts'
import { type Oembed, oembed } from '../contract/public.ts'
import type { Branding } from '../core/branding.ts'
import { CARD_HEIGHT, CARD_WIDTH } from '../domain/card.ts'
import { Refusal } from '../domain/errors.ts'
import { parseSlug } from '../domain/ids.ts'
import { fileNotFound } from '../files/files.ts'
import { openEndpoint } from '../server/endpoint.ts'
import { type AccessControl, opened } from '../sharing/access.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'

interface OembedNeeds {
  readonly authentication: Authentication
  readonly operations: { readonly branding: Pick<Branding, 'shown'> }
  readonly sharing: { readonly access: AccessControl }
  readonly thumbnails: Pick<Thumbnails, 'shows'>
}

export const getOembedEndpoint = openEndpoint({
  summary: 'Describe a file for embedding',
  description: 'By oEmbed 1.0, for the address of the page of a file: /d/<slug>.',
  tag: 'Public',
  query: z.object({
    url: z.string().max(2000).openapi({ example: 'https://files.example.org/d/Kx3RmP7vTq2a' }),
    format: z.string().optional().openapi({ description: 'json, the only one', example: 'json' }),
  }),
  answer: oembed,
  errors: [400, 403, 404],
  async handle(
    { call, query: { url, format } },
    { authentication, operations, sharing, thumbnails }: OembedNeeds,
  ) {
    if (format !== undefined && format !== 'json') throw new Refusal('INVALID_REQUEST', '"format": only json')
    const { publicUrl } = call.site
    const page = `${publicUrl}/d/`
    if (!url.startsWith(page)) throw fileNotFound()
    const slug = parseSlug(url.slice(page.length).replace(/[/?#].*$/s, ''))
    const requester = authentication.requester(call)
    const { item } = opened(await sharing.access.file(requester, { kind: 'slug', slug }))
    const card = `${page}${slug}/card.jpg`
    const said = {
      version: '1.0',
      title: item.name,
      provider_name: operations.branding.shown().name,
      provider_url: publicUrl,
    } as const
    if (!thumbnails.shows(item)) return { ...said, type: 'link' } satisfies Oembed
    const size = { width: CARD_WIDTH, height: CARD_HEIGHT }
    const preview = { thumbnail_url: card, thumbnail_width: size.width, thumbnail_height: size.height }
    const isPhoto = item.type.startsWith('image/')
    const answer: Oembed = isPhoto
      ? { ...said, ...preview, type: 'photo', url: card, ...size }
      : { ...said, ...preview, type: 'link' }
    return answer
  },
})
