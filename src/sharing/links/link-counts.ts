import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { LinkId } from '../../domain/ids.ts'
import type { ByteClaims } from './byte-claims.ts'
import { addDownloads } from './link-claims.rows.ts'

/** Counts downloads that have no limit, in memory. */
export interface LinkCounts {
  /** Counts a download that begins at byte 0, unless less than half of it was sent. */
  of(link: LinkId): ByteClaims
  /** Writes the counts of now. Counts that could not be written are kept for the next time. */
  flush(): Promise<void>
}

export function createLinkCounts(db: Database): LinkCounts {
  const unwritten = new Map<LinkId, number>()
  const add = (link: LinkId, more: number) => unwritten.set(link, (unwritten.get(link) ?? 0) + more)

  return {
    of: (link) => ({
      async begin({ start, whole }) {
        if (start === 0) add(link, 1)
        return {
          end(unsent) {
            if (start === 0 && unsent * 2 > whole) add(link, -1)
          },
        }
      },
    }),

    async flush() {
      const counts = [...unwritten].sort(([a], [b]) => a - b)
      unwritten.clear()
      for (const [at, [link, count]] of counts.entries()) {
        try {
          await inTransaction(db, (trx) => addDownloads(trx, link, count))
        } catch (error) {
          for (const [id, left] of counts.slice(at)) add(id, left)
          throw error
        }
      }
    },
  }
}
