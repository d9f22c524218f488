import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react'

export type FocusDue = RefObject<boolean>

/**
 * When a key selects it, its entry or a removed one was focused, or the previous list had the focus. Returns
 * a function that announces the first case.
 */
export function useRowFocus(grid: RefObject<HTMLElement | null>, focus: number, isDue: FocusDue): () => void {
  const wasInside = useRef(false)
  const focusBefore = useRef(focus)
  useHandOver(grid, isDue)

  // After every render: rows come late, and may vanish without an event.
  useLayoutEffect(() => {
    const active = document.activeElement
    const isLost = wasInside.current && active === document.body
    // A clicked row is focused before the selection follows.
    const hasMoved =
      focusBefore.current !== focus &&
      active instanceof HTMLElement &&
      grid.current?.contains(active) === true &&
      active.dataset.row === String(focusBefore.current)
    // A closed dialog restores the focus to its row, even with another entry in it.
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

export function useMessageFocus(message: RefObject<HTMLElement | null>, isDue: FocusDue): void {
  useHandOver(message, isDue)
  useLayoutEffect(() => {
    if (!isDue.current) return
    message.current?.focus()
    isDue.current = false
  }, [message, isDue])
}

/** A focused element that is removed leaves the focus to its successor. */
function useHandOver(of: RefObject<HTMLElement | null>, isDue: FocusDue): void {
  useLayoutEffect(() => {
    const element = of.current
    return () => {
      if (element?.contains(document.activeElement) === true) isDue.current = true
    }
  }, [of, isDue])
}
