import * as z from 'zod/mini'
import { component, described, extended } from './documentation.ts'
import { dataOf, optionalTimestamp, pageOf, sizeField, timestampField, uuidField } from './fields.ts'

const linkState = described(z.enum(['live', 'ended', 'used_up', 'revoked']), {
  description: '"live" until its end, its last download, or until it is revoked',
})
export type LinkState = z.infer<typeof linkState>

export const link = component(
  'Link',
  z.object({
    slug: z.string(),
    url: z.string(),
    title: described(z.string(), {
      description: 'Its name, or else that of the first file or folder that it opens; may be empty',
    }),
    name: z.nullable(z.string()),
    message: z.nullable(z.string()),
    has_password: z.boolean(),
    ends_at: optionalTimestamp,
    max_downloads: described(z.nullable(z.int()), { description: 'null: any number', example: 3 }),
    downloads: described(z.int(), {
      description:
        'Visitors who downloaded it, or are doing so. Of one visitor all within a day is one download; one of which less than half was sent, previews of chat programs and those of its owner do not count',
    }),
    state: linkState,
    files: described(z.int(), { description: 'How many files were chosen, of which some may be gone' }),
    folders: described(z.int(), { description: 'How many folders were chosen, of which some may be gone' }),
    created_at: timestampField,
    revoked_at: optionalTimestamp,
  }),
)
export type Link = z.infer<typeof link>

/** A link with what it opens now. */
export const linkDetail = component(
  'LinkDetail',
  extended(link, {
    targets: z.object({
      folders: z.array(z.object({ id: z.string(), name: z.string() })),
      files: z.array(
        z.object({ id: z.int(), uuid: uuidField, name: z.string(), size: sizeField, type: z.string() }),
      ),
    }),
  }),
)
export type LinkDetail = z.infer<typeof linkDetail>

export const linksAnswer = pageOf(link)
export const linkAnswer = dataOf(linkDetail)
export const linkMadeAnswer = z.object({ success: z.literal(true), message: z.string(), data: linkDetail })
