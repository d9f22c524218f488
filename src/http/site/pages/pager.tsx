import { fill } from '../../../../web/shared/words.ts'
import { type FolderQuery, folderAddress, pagesAround } from '../folder-query.ts'
import type { PageContext } from './context.ts'

interface PagerProps {
  readonly query: FolderQuery
  readonly pages: number
  readonly context: PageContext
}

/** Programs follow the link with the text →. */
export function Pager({ query, pages, context }: PagerProps) {
  const { page } = query
  const { folder } = context.texts
  if (pages <= 1) return null
  return (
    <nav aria-label={folder.pages} className="pager">
      {page > 1 ? (
        <a aria-label={folder.previousPage} className="page-link" href={addressOf(page - 1)} rel="prev">
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
        <a aria-label={folder.nextPage} className="page-link" href={addressOf(page + 1)} rel="next">
          →
        </a>
      ) : null}
    </nav>
  )

  function addressOf(number: number): string {
    return folderAddress({ ...query, page: number })
  }
}

function PageNumber({ number, query, pages, context }: PagerProps & { readonly number: number }) {
  const { words, texts } = context
  const label = fill(texts.folder.pageOf, { page: words.number(number), pages: words.number(pages) })
  return (
    <a
      aria-current={number === query.page ? 'page' : undefined}
      aria-label={label}
      className="page-link"
      href={folderAddress({ ...query, page: number })}
    >
      {words.number(number)}
    </a>
  )
}
