import * as z from 'zod/mini'
import { component, described, secondsField, timestampField } from './fields.ts'

/** Valid for half an hour: `<server>/v2/<file>?token=<token>`. */
export const signedAddress = component(
  'SignedAddress',
  z.object({
    success: z.literal(true),
    expires_in: secondsField,
    file: described(z.string(), { example: '8d5f3c1e-2a47-4b8c-9f60-1e7d3b5a9c24.jpg' }),
    name: z.string(),
    server: z.string(),
    token: z.string(),
  }),
)

export const publicFolder = component(
  'PublicFolder',
  z.object({
    success: z.literal(true),
    name: z.string(),
    page: z.int(),
    pages: z.int(),
    folders: z.array(z.object({ identifier: z.string(), name: z.string() })),
    files: z.array(
      z.object({
        slug: z.string(),
        name: z.string(),
        size: z.int(),
        type: z.string(),
        url: z.string(),
        created_at: timestampField,
      }),
    ),
  }),
)

const pixels = (example: number) => z.optional(described(z.int(), { example }))

/** oEmbed 1.0, section 2.3. */
export const oembed = component(
  'Oembed',
  z.object({
    version: z.literal('1.0'),
    type: described(z.enum(['photo', 'link']), {
      description: '`photo` for pictures of which there is a preview',
    }),
    title: z.string(),
    provider_name: described(z.string(), { example: 'Holdfast' }),
    provider_url: described(z.string(), { example: 'https://files.example.org' }),
    url: z.optional(described(z.string(), { description: 'JPEG of a photo' })),
    width: pixels(1200),
    height: pixels(630),
    thumbnail_url: z.optional(z.string()),
    thumbnail_width: pixels(1200),
    thumbnail_height: pixels(630),
  }),
)
export type Oembed = z.infer<typeof oembed>
