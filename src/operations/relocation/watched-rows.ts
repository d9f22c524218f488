import { yieldToEventLoop } from '../../core/yielding.ts'
import type { Database } from '../../database/database.ts'
import { countRows, type RowCopy } from './row-copy.rows.ts'

interface Amount {
  readonly count: number
  readonly bytes: number
}

interface Watched {
  readonly signal: AbortSignal
  readonly watch: {
    begin(step: 'rows' | 'compare', total: Amount): void
    advance(done: Amount & { readonly wasThere: boolean }): void
  }
}

/** Reports rows copied, then compared. Stops with the signal's reason. */
export async function watchedRows(
  db: Database,
  which: Pick<RowCopy, 'sameStore'>,
  { watch, signal }: Watched,
): Promise<RowCopy['onRows']> {
  const count = await countRows(db, which)
  let step: 'copied' | 'compared' = 'copied'
  watch.begin('rows', { count, bytes: 0 })
  return async (present, rows) => {
    signal.throwIfAborted()
    if (present !== step) watch.begin('compare', { count, bytes: 0 })
    step = present
    watch.advance({ count: rows, bytes: 0, wasThere: false })
    await yieldToEventLoop()
  }
}
