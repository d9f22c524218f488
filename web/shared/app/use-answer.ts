import { useCallback, useEffect, useRef, useState } from 'react'

export type Answered<T> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'there'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Keeps the old answer visible. `fetchIt` must be stable, such as a module's function. */
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
