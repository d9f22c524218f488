import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react'

/**
 * Gives the focus to a row when it becomes the one that has it by a key, and when the row that had it is gone. What it
 * returns announces the former.
 */
export function useRowFocus(grid: RefObject<HTMLElement | null>, focus: number): () => void {
  const isDue = useRef(false)
  const wasInside = useRef(false)

  // After every change: rows come late, and may go without a word.
  useLayoutEffect(() => {
    const isLost = wasInside.current && document.activeElement === document.body
    if (isDue.current || isLost) {
      const row = grid.current?.querySelector<HTMLElement>(`[data-row="${focus}"]`)
      if (row != null) {
        row.focus({ preventScroll: true })
        isDue.current = false
      }
    }
    wasInside.current = grid.current?.contains(document.activeElement) === true
  })

  return useCallback(() => {
    isDue.current = true
  }, [])
}
