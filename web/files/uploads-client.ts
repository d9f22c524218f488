import * as z from 'zod/mini'
import { ask, sending } from './ask.ts'

/** Uploads of the account that are not finished, wherever they were begun. All throw RequestFailure. */

const unfinished = z.object({
  slug: z.string(),
  status: z.string(),
  name: z.string(),
  /** A part of an upload has none. */
  url: z.optional(z.string()),
  location: z.string(),
  received: z.number(),
  size: z.nullable(z.number()),
  last_modified: z.nullable(z.number()),
})

export type UnfinishedUpload = z.infer<typeof unfinished>

export async function fetchUnfinished(): Promise<readonly UnfinishedUpload[]> {
  return (await ask(z.object({ data: z.array(unfinished) }), '/api/v1/uploads')).data
}

/** Gives it up, and what of it has arrived. */
export async function endUpload({ slug }: UnfinishedUpload): Promise<void> {
  const done = z.object({ success: z.literal(true) })
  await ask(done, '/api/v1/upload/cancel', sending('POST', { slug }))
}
