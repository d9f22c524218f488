import { type ReactNode, useCallback } from 'react'
import { Loaded } from '../../shared/app/loaded.tsx'
import { useAnswer } from '../../shared/app/use-answer.ts'
import { askedPage } from './address.ts'
import type { Page } from './paged.ts'
import { Pager } from './pager.tsx'

interface PagedListProps<Item> {
  /** One that stays the same as long as it asks the same. */
  readonly fetchPage: (page: number) => Promise<Page<Item>>
  /** What is said of an empty list. */
  readonly empty: string
  /** Of the page in the address. */
  readonly pageName?: string
  /** One `li`. `changed` asks anew, once something was done. */
  readonly children: (item: Item, changed: () => Promise<void>) => ReactNode
}

/** One page of a list, and the way to the others. */
export function PagedList<Item>(props: PagedListProps<Item>) {
  const { fetchPage, empty, pageName = 'page', children } = props
  const fetchIt = useCallback(() => fetchPage(askedPage(pageName)), [fetchPage, pageName])
  const { answered, again } = useAnswer(fetchIt)
  return (
    <Loaded again={again} answered={answered}>
      {({ data, pagination }) => (
        <div className="paged">
          {data.length === 0 ? (
            <p className="quiet">{empty}</p>
          ) : (
            <ul className="plain-rows">{data.map((item) => children(item, again))}</ul>
          )}
          <Pager name={pageName} page={pagination.page} pages={pagination.pages} />
        </div>
      )}
    </Loaded>
  )
}
