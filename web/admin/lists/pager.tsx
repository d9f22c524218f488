import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { withAsked } from './address.ts'

interface PagerProps {
  readonly page: number
  readonly pages: number
  /** In the address. */
  readonly name: string
}

/** The way through a list of several pages. */
export function Pager({ page, pages, name }: PagerProps) {
  const { texts, words } = useAdmin()
  const { common } = texts
  if (pages <= 1 && page === 1) return null
  return (
    <nav aria-label={common.pages} className="pager">
      {page > 1 ? (
        <a href={withAsked(name, Math.min(page - 1, Math.max(pages, 1)), true)} rel="prev">
          {common.previous}
        </a>
      ) : null}
      <span className="quiet">
        {fill(common.pageOf, { page: words.number(page), pages: words.number(pages) })}
      </span>
      {page < pages ? (
        <a href={withAsked(name, page + 1, true)} rel="next">
          {common.next}
        </a>
      ) : null}
    </nav>
  )
}
