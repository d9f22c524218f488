import { fill } from '../../../web/shared/words.ts'
import { type FolderQuery, pageAddress, pagesAround } from '../folder-query.ts'
import type { PageContext } from './context.ts'

interface PagerProps {
  readonly query: FolderQuery
  readonly pages: number
  readonly context: PageContext
}

/**
 * Download programs read `class="page-info">1/3<`, and follow `href="?page=2" class="page-link">→<`
 * literally: these attributes must come last.
 */
export function PagerView({ query, pages, context }: PagerProps) {
  const { page } = query
  const { folder } = context.texts
  if (pages <= 1 || page > pages) return null
  return (
    <nav aria-label={folder.pages} className="pager">
      {page > 1 ? (
        <a aria-label={folder.previousPage} rel="prev" href={pageAddress(page - 1)} className="page-link">
          ←
        </a>
      ) : null}
      {pagesAround(page, pages).map((each, at) =>
        each === null ? (
          <span className="quiet" key={`after ${at}`}>
            …
          </span>
        ) : (
          <PageNumber context={context} key={each} number={each} {...{ query, pages }} />
        ),
      )}
      {page < pages ? (
        <a aria-label={folder.nextPage} rel="next" href={pageAddress(page + 1)} className="page-link">
          →
        </a>
      ) : null}
      <span className="page-info">{`${page}/${pages}`}</span>
    </nav>
  )
}

function PageNumber({ number, query, pages, context }: PagerProps & { readonly number: number }) {
  const { words, texts } = context
  const label = fill(texts.folder.pageOf, { page: words.number(number), pages: words.number(pages) })
  return (
    <a
      aria-current={number === query.page ? 'page' : undefined}
      aria-label={label}
      href={pageAddress(number)}
      className="page-link"
    >
      {words.number(number)}
    </a>
  )
}
