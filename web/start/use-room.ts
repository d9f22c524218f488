import { useCallback, useRef, useState } from 'react'
import type { Picked } from '../uploads/picked.ts'
import type { UploadItem } from '../uploads/upload-item.ts'

interface Room {
  readonly add: (picked: readonly Picked[]) => void
  /** How many more files there is room for, when more were chosen last; null otherwise. */
  readonly refused: number | null
  /** What was added is not sent after all. */
  readonly giveBack: (count: number) => void
}

/**
 * Refuses a choice of more files than a link still takes, before any of it is sent. `most`: null where no number is
 * set. Only the server knows what others send meanwhile.
 */
export function useRoom(
  most: number | null,
  items: readonly UploadItem[],
  take: (picked: readonly Picked[]) => void,
): Room {
  const taken = useRef(0)
  const gone = useRef(0)
  gone.current = items.filter(({ state }) => GONE.includes(state.kind)).length
  const [refused, setRefused] = useState<number | null>(null)
  const add = useCallback(
    (picked: readonly Picked[]) => {
      const left = most === null ? null : Math.max(0, most - taken.current + gone.current)
      if (left !== null && picked.length > left) {
        setRefused(left)
        return
      }
      taken.current += picked.length
      if (picked.length > 0) setRefused(null)
      take(picked)
    },
    [most, take],
  )
  const giveBack = useCallback((count: number) => {
    taken.current -= count
  }, [])
  return { add, refused, giveBack }
}

/** They take no room of the link. */
const GONE: readonly string[] = ['failed', 'cancelled', 'deleted']
