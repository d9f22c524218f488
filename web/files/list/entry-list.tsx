import { useRef } from 'react'
import { useFiles } from '../files-context.ts'
import type { Preferred } from '../preferences.ts'
import { Empty } from './empty.tsx'
import { EntryGrid } from './entry-grid.tsx'

const WAITING_LINES = 24

/** The focus moves between the list and its replacement. */
export function EntryList({ look }: { look: Preferred['look'] }) {
  const { shown, manager } = useFiles()
  const isDue = useRef(false)
  const total = manager.listing.total()
  const { problem } = shown
  // The old list stays while it may be true.
  if (problem !== null && (problem === 'missing' || total === null)) {
    return <Empty isDue={isDue} kind={problem} />
  }
  if (total === 0) return <Empty isDue={isDue} kind={manager.listing.isFound() ? 'nothing found' : 'empty'} />
  if (total === null) return <Waiting />
  return <EntryGrid isDue={isDue} look={look} total={total} />
}

function Waiting() {
  return (
    <div aria-busy="true" className="entries-waiting">
      {Array.from({ length: WAITING_LINES }, (_, line) => (
        <div className="line-coming" key={line}>
          <div />
        </div>
      ))}
    </div>
  )
}
