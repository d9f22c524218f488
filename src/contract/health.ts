import * as z from 'zod/mini'
import { component, described } from './documentation.ts'

export const health = component(
  'Health',
  z.object({ status: z.literal('ok'), timestamp: z.int(), service: z.string() }),
)
export type Health = z.infer<typeof health>

const part = z.enum(['ok', 'down'])

export const readiness = component(
  'Readiness',
  z.object({
    status: z.enum(['ready', 'not ready']),
    database: part,
    store: part,
    uploads: described(z.boolean(), {
      description:
        'Whether the disk has room for uploads; all else goes on without it, so this alone is no 503',
    }),
    guest_uploads: described(z.boolean(), {
      description: 'The same for guests, whose uploads stop at twice the free space',
    }),
    removals: described(z.boolean(), {
      description:
        'Whether bytes that nobody needs are removed: not while the database is older than what its store has seen, until "holdfast takeover"',
    }),
  }),
)
export type Readiness = z.infer<typeof readiness>

/** The document of this API. */
export const openApiAnswer = z.looseObject({ openapi: z.string() })
