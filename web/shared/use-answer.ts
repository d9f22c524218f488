import { useCallback, useEffect, useRef, useState } from 'react'

/** What was asked of the server when a part of the page came up. */
export type Answered<T> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'there'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown }

/**
 * `fetchIt` is a function of its module, or one that stays the same as long as it asks the same: it is asked once, and
 * again by `again`, during which what was there stays. What comes late, after something newer was asked, is dropped.
 */
export function useAnswer<T>(fetchIt: () => Promise<T>) {
  const [answered, setAnswered] = useState<Answered<T>>({ kind: 'waiting' })
  const latest = useRef(0)
  const again = useCallback(async () => {
    const asked = ++latest.current
    const answer = await answerOf(fetchIt)
    if (asked === latest.current) setAnswered(answer)
  }, [fetchIt])
  useEffect(() => void again(), [again])
  return { answered, again }
}

async function answerOf<T>(fetchIt: () => Promise<T>): Promise<Answered<T>> {
  try {
    return { kind: 'there', value: await fetchIt() }
  } catch (error) {
    return { kind: 'failed', error }
  }
}
