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
