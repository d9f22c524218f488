import { useCallback, useEffect, useState } from 'react'

/** What was asked of the server when a part of the page came up. */
export type Answered<T> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'there'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown }

/** `fetchIt` is a function of its module: it is asked once, and again by `again`, during which what was there stays. */
export function useAnswer<T>(fetchIt: () => Promise<T>) {
  const [answered, setAnswered] = useState<Answered<T>>({ kind: 'waiting' })
  const again = useCallback(async () => {
    try {
      setAnswered({ kind: 'there', value: await fetchIt() })
    } catch (error) {
      setAnswered({ kind: 'failed', error })
    }
  }, [fetchIt])
  useEffect(() => void again(), [again])
  return { answered, again }
}
