import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useOneAtATime } from '../dialogs/use-one-at-a-time.ts'
import { useFiles } from '../files-context.ts'
import { failureText } from '../network-text.ts'

export interface ReadPages<Item> {
  readonly items: readonly Item[] | null
  readonly hasMore: boolean
  readonly failure: string | null
  more(): void
}

export function useReadPages<Item>(
  fetchPage: (page: number) => Promise<{ readonly items: readonly Item[]; readonly pages: number }>,
): ReadPages<Item> {
  const [items, setItems] = useState<readonly Item[] | null>(null)
  const [pages, setPages] = useState({ read: 0, all: 1 })
  const { texts } = useFiles()
  const [failure, setFailure] = useState<string | null>(null)
  const oneAtATime = useOneAtATime()

  function more(): void {
    const page = pages.read + 1
    setFailure(null)
    oneAtATime(() =>
      fetchPage(page).then(
        (found) => {
          setItems((before) => [...(before ?? []), ...found.items])
          setPages({ read: page, all: found.pages })
        },
        (error: unknown) => setFailure(failureText(error, texts)),
      ),
    )
  }

  useEffect(more, [])

  return { items, hasMore: pages.read < pages.all, failure, more }
}

export function MoreButton({ of }: { of: ReadPages<unknown> }) {
  const { texts } = useFiles()
  if (!of.hasMore || (of.items === null && of.failure === null)) return null
  return (
    <Button onClick={of.more} size="compact-md" variant="default">
      {of.items === null ? texts.operations.retry : texts.links.more}
    </Button>
  )
}
