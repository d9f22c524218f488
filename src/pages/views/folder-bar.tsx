import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import {
  FILE_SORTS,
  type FolderQuery,
  type FolderViewMode,
  orderAddress,
  sortedBy,
  viewModeAddress,
} from '../folder-query.ts'
import type { PageContext } from './context.ts'

interface FolderBarProps {
  readonly query: FolderQuery
  readonly look: FolderViewMode
  readonly pages: number
  readonly context: PageContext
}

export function FolderBar({ query, look, pages, context }: FolderBarProps) {
  const texts = context.texts.folder
  return (
    <div className="folder-bar">
      <nav aria-label={texts.sortBy} className="sorts">
        {FILE_SORTS.map((sort) => (
          <a
            aria-current={sort === query.sort ? 'true' : undefined}
            href={orderAddress(sortedBy(query, sort))}
            key={sort}
            rel="nofollow"
          >
            {texts.sorts[sort]}
            {sort === query.sort ? <Direction context={context} order={query.order} /> : null}
          </a>
        ))}
      </nav>
      <nav aria-label={texts.look} className="looks">
        {(['list', 'gallery'] as const).map((each) => (
          <a
            aria-current={each === look ? 'true' : undefined}
            href={viewModeAddress(query, each, pages)}
            key={each}
            rel="nofollow"
            title={texts.looks[each]}
          >
            <Drawing of={each} />
            <span className="unseen">{texts.looks[each]}</span>
          </a>
        ))}
      </nav>
    </div>
  )
}

function Direction({ order, context }: { order: FolderQuery['order']; context: PageContext }) {
  return (
    <>
      <Drawing of={order === 'asc' ? 'up' : 'down'} size={16} />
      <span className="unseen">{context.texts.folder.orders[order]}</span>
    </>
  )
}
