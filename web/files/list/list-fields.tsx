import { Drawing } from '../../shared/drawings/drawing.tsx'
import { useFiles } from '../files-context.ts'
import type { Preferred } from '../preferences.ts'
import type { Sort } from './listing.ts'

export interface ListFieldsProps {
  readonly look: Preferred['look']
  readonly setLook: (look: Preferred['look']) => void
}

export function ListFields({ look, setLook }: ListFieldsProps) {
  const { texts } = useFiles()
  const other = look === 'list' ? 'tiles' : 'list'
  return (
    <div className="list-fields">
      <SortFields />
      <button
        aria-label={`${texts.look}: ${texts.looks[other]}`}
        className="icon-button"
        onClick={() => setLook(other)}
        title={texts.looks[other]}
        type="button"
      >
        <Drawing of={other === 'tiles' ? 'gallery' : 'list'} />
      </button>
    </div>
  )
}

const SORTS: readonly Sort[] = ['name', 'size', 'created_at', 'downloads']

function SortFields() {
  const { texts, shown, manager } = useFiles()
  const { sort, order } = shown.query
  const other = order === 'asc' ? 'desc' : 'asc'
  const label = `${texts.sortBy} ${texts.sorts[sort]}, ${texts.order[other]}`
  return (
    <div className="sort-fields">
      <select
        aria-label={texts.sortBy}
        onChange={({ currentTarget }) => {
          const chosen = SORTS.find((each) => each === currentTarget.value)
          if (chosen !== undefined) manager.sortBy(chosen, order)
        }}
        value={sort}
      >
        {SORTS.map((each) => (
          <option key={each} value={each}>
            {texts.sorts[each]}
          </option>
        ))}
      </select>
      <button
        aria-label={label}
        className="icon-button"
        onClick={() => manager.sortBy(sort, other)}
        title={label}
        type="button"
      >
        <Drawing of={order === 'asc' ? 'up' : 'down'} />
      </button>
    </div>
  )
}
