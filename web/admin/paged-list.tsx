import { type ReactNode, useCallback } from 'react'
import { Loaded } from '../shared/loaded.tsx'
import { useAnswer } from '../shared/use-answer.ts'
import { askedPage } from './address.ts'
import { Pager } from './pager.tsx'
import type { Page } from './shapes.ts'

interface PagedListProps<Item> {
  /** One that stays the same as long as it asks the same. */
  readonly fetchPage: (page: number) => Promise<Page<Item>>
  /** What is said of an empty list. */
  readonly empty: string
  /** Of the page in the address. */
  readonly pageName?: string
  /** One `li`. `again` asks anew, once something was done. */
  readonly children: (item: Item, again: () => Promise<void>) => ReactNode
}

/** One page of a list, and the way to the others. */
export function PagedList<Item>(props: PagedListProps<Item>) {
  const { fetchPage, empty, pageName = 'page', children } = props
  const fetchIt = useCallback(() => fetchPage(askedPage(pageName)), [fetchPage, pageName])
  const { answered, again } = useAnswer(fetchIt)
  return (
    <Loaded again={again} answered={answered}>
      {({ data, pagination }) => (
        <>
          {data.length === 0 ? (
            <p className="quiet">{empty}</p>
          ) : (
            <ul className="plain-rows">{data.map((item) => children(item, again))}</ul>
          )}
          <Pager name={pageName} page={pagination.page} pages={pagination.pages} />
        </>
      )}
    </Loaded>
  )
}
