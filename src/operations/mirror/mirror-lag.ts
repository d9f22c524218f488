import type { Database } from '../../database/database.ts'
import { oldestUnmirrored } from './mirror.rows.ts'
import { attachedMirror } from './mirror-store.ts'

/** Milliseconds since the oldest content without a copy was stored, or the mirror attached; 0 for none. */
export async function mirrorLag(db: Database, now: number): Promise<number> {
  const [oldest, attached] = await Promise.all([oldestUnmirrored(db), attachedMirror(db)])
  return oldest === null ? 0 : Math.max(0, now - Math.max(oldest, attached?.since ?? 0))
}
