import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useOneAtATime } from '../dialogs/use-one-at-a-time.ts'
import { useFiles } from '../files-context.ts'
import { notReached } from '../network-text.ts'

/** A list that is read page by page. */
export interface ReadPages<Item> {
  /** Null until the first page is here. */
  readonly items: readonly Item[] | null
  readonly hasMore: boolean
  readonly hasFailed: boolean
  more(): void
}

/** Reads the first page at once. */
export function useReadPages<Item>(
  fetchPage: (page: number) => Promise<{ readonly items: readonly Item[]; readonly pages: number }>,
): ReadPages<Item> {
  const [items, setItems] = useState<readonly Item[] | null>(null)
  const [pages, setPages] = useState({ read: 0, all: 1 })
  const [hasFailed, setHasFailed] = useState(false)
  const oneAtATime = useOneAtATime()

  function more(): void {
    const page = pages.read + 1
    setHasFailed(false)
    oneAtATime(() =>
      fetchPage(page).then(
        (found) => {
          setItems((before) => [...(before ?? []), ...found.items])
          setPages({ read: page, all: found.pages })
        },
        () => setHasFailed(true),
      ),
    )
  }

  useEffect(more, [])

  return { items, hasMore: pages.read < pages.all, hasFailed, more }
}

/** That a page could not be read. */
export function ReadFailure({ of }: { of: ReadPages<unknown> }) {
  const { texts } = useFiles()
  if (!of.hasFailed) return null
  return (
    <p className="failure small" role="alert">
      {notReached(texts)}
    </p>
  )
}

/** Reads the next page. */
export function MoreButton({ of }: { of: ReadPages<unknown> }) {
  const { texts } = useFiles()
  if (!of.hasMore || of.items === null) return null
  return (
    <Button onClick={of.more} size="compact-md" variant="default">
      {texts.links.more}
    </Button>
  )
}
