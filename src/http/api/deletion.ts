import { z } from '@hono/zod-openapi'
import type { RemovalCounts } from '../../services/removals.ts'
import { success } from './fields.ts'

/** The answer of both kinds of delete. */
export const deletion = z
  .object({
    success,
    message: z.string(),
    total_processed: z.number().int(),
    successful_deletes: z.number().int(),
    failed_deletes: z.number().int(),
    files_deleted: z.number().int(),
  })
  .openapi('Deletion')

export function toDeletion(counts: RemovalCounts, things: 'files' | 'folders'): z.infer<typeof deletion> {
  return {
    success: counts.deleted === counts.processed,
    message: `Deleted ${counts.deleted} of ${counts.processed} ${things}`,
    total_processed: counts.processed,
    successful_deletes: counts.deleted,
    failed_deletes: counts.processed - counts.deleted,
    files_deleted: counts.filesDeleted,
  }
}
