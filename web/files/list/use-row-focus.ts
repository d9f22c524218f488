import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react'

/** Whether what stands in the place of the list is to have the focus as soon as it is there. */
export type FocusDue = RefObject<boolean>

/**
 * Gives the focus to a row when it becomes the one that has it by a key, when its entry was in the row that had it, when
 * the row that had it is gone, and when the list before it had it. What it returns announces the first.
 */
export function useRowFocus(grid: RefObject<HTMLElement | null>, focus: number, isDue: FocusDue): () => void {
  const wasInside = useRef(false)
  const focusBefore = useRef(focus)
  useHandOver(grid, isDue)

  // After every change: rows come late, and may go without a word.
  useLayoutEffect(() => {
    const active = document.activeElement
    const isLost = wasInside.current && active === document.body
    // A row that was clicked has the focus before the selection says so, and is no longer this one.
    const hasMoved =
      focusBefore.current !== focus &&
      active instanceof HTMLElement &&
      grid.current?.contains(active) === true &&
      active.dataset.row === String(focusBefore.current)
    // A dialog gives the focus back to the row that had it, whatever is in that row then.
    if (active?.closest('dialog') == null) focusBefore.current = focus
    if (isDue.current || isLost || hasMoved) {
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
    // Where the window scrolls, the list may be partly outside it.
    grid.current?.scrollIntoView({ block: 'nearest' })
  }, [grid, isDue])
}

/** Gives the focus to an element that stands where there is no list. */
export function useMessageFocus(message: RefObject<HTMLElement | null>, isDue: FocusDue): void {
  useHandOver(message, isDue)
  useLayoutEffect(() => {
    if (!isDue.current) return
    message.current?.focus()
    isDue.current = false
  }, [message, isDue])
}

/** What has the focus when it goes leaves it to what comes. */
function useHandOver(of: RefObject<HTMLElement | null>, isDue: FocusDue): void {
  useLayoutEffect(() => {
    const element = of.current
    return () => {
      if (element?.contains(document.activeElement) === true) isDue.current = true
    }
  }, [of, isDue])
}
