import { Empty } from './empty.tsx'
import { EntryGrid } from './entry-grid.tsx'
import { useFiles } from './files-context.ts'
import type { Preferred } from './preferences.ts'

/** What is listed, or why there is nothing to list. */
export function EntryList({ look }: { look: Preferred['look'] }) {
  const { shown, manager } = useFiles()
  const total = manager.listing.total()
  const { problem, query } = shown
  if (problem !== null && (problem !== 'network' || total === null)) return <Empty kind={problem} />
  if (total === 0) return <Empty kind={query.search === '' ? 'empty' : 'nothing found'} />
  if (total === null) return <div aria-busy="true" className="entries-waiting" />
  return <EntryGrid look={look} total={total} />
}
