import { Drawing } from '../../shared/drawings/drawing.tsx'
import { useFiles } from '../files-context.ts'
import type { Sort } from './listing.ts'

const COLUMNS: readonly { readonly sort: Sort; readonly cell: string }[] = [
  { sort: 'name', cell: 'cell-name' },
  { sort: 'size', cell: 'cell-size' },
  { sort: 'created_at', cell: 'cell-date' },
  { sort: 'downloads', cell: 'cell-downloads' },
]

export function ListHead() {
  const { texts, shown, manager } = useFiles()
  const { sort, order } = shown.query
  return (
    <div className="list-head" role="rowgroup">
      <div aria-rowindex={1} className="line" role="row">
        {COLUMNS.map((column) => {
          const isSorted = column.sort === sort
          const next = isSorted && order === 'asc' ? 'desc' : 'asc'
          return (
            <div
              aria-sort={isSorted ? (order === 'asc' ? 'ascending' : 'descending') : undefined}
              className={column.cell}
              key={column.sort}
              role="columnheader"
            >
              <button className="small quiet" onClick={() => manager.sortBy(column.sort, next)} type="button">
                {texts.sorts[column.sort]}
                {isSorted ? <Drawing of={order === 'asc' ? 'up' : 'down'} size={16} /> : null}
              </button>
            </div>
          )
        })}
        <div className="cell-more" role="columnheader">
          <span className="off-screen">{texts.actions.more}</span>
        </div>
      </div>
    </div>
  )
}
