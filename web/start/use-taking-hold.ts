import { useEffect, useRef } from 'react'
import { takeHold } from '../shared/drawings/take-hold.ts'
import type { Uploads } from '../uploads/upload-item.ts'

/** The mark takes hold once the last byte of all that was sent is safe. */
export function useTakingHold({ items, total }: Uploads): void {
  const wasActive = useRef(false)
  const isSafe = !total.isActive && items.length > 0 && items.every(({ state }) => state.kind === 'done')
  useEffect(() => {
    if (wasActive.current && isSafe) takeHold()
    wasActive.current = total.isActive
  }, [isSafe, total.isActive])
}
