import { useRef } from 'react'
import { useFiles } from '../files-context.ts'
import type { Preferred } from '../preferences.ts'
import { Empty } from './empty.tsx'
import { EntryGrid } from './entry-grid.tsx'

/** As many as most windows have room for. */
const WAITING_LINES = 24

/** What is listed, or why there is nothing to list. The focus goes from one to the other. */
export function EntryList({ look }: { look: Preferred['look'] }) {
  const { shown, manager } = useFiles()
  const isDue = useRef(false)
  const total = manager.listing.total()
  const { problem } = shown
  // What was listed stays as long as it may be true.
  if (problem !== null && (problem === 'missing' || total === null)) {
    return <Empty isDue={isDue} kind={problem} />
  }
  if (total === 0) return <Empty isDue={isDue} kind={manager.listing.isFound() ? 'nothing found' : 'empty'} />
  if (total === null) return <Waiting />
  return <EntryGrid isDue={isDue} look={look} total={total} />
}

/** In the shape of the lines to come. */
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
