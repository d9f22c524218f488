import type { Deletion } from '../contract/files.ts'
import type { RemovalCounts } from './removals.ts'

export function toDeletion(counts: RemovalCounts, things: 'files' | 'folders'): Deletion {
  return {
    success: counts.deleted === counts.processed,
    message: `Deleted ${counts.deleted} of ${counts.processed} ${things}`,
    total_processed: counts.processed,
    successful_deletes: counts.deleted,
    failed_deletes: counts.processed - counts.deleted,
    files_deleted: counts.filesDeleted,
  }
}
