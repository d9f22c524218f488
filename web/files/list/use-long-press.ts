import { type MouseEvent, type PointerEvent as ReactPointerEvent, useEffect, useRef } from 'react'

/** Milliseconds, as phones have it. */
const LONG = 500
/** Pixels that a finger may stray. */
const STILL = 10

/**
 * Calls `act` when a finger rests on something. Some browsers say so themselves, by asking for a menu; of the others it
 * is measured here.
 */
export function useLongPress(act: () => void) {
  const latest = useRef(act)
  latest.current = act
  const press = useRef<{ readonly x: number; readonly y: number; isOver: boolean } | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  function end(): void {
    clearTimeout(timer.current)
    if (press.current === null || press.current.isOver) return
    press.current.isOver = true
    latest.current()
  }

  function forget(): void {
    clearTimeout(timer.current)
    press.current = null
  }

  return {
    /** Whether the click that comes is the end of a long press, and means nothing more. */
    isOver: () => press.current?.isOver === true,
    /** Whether a finger is what touched last. */
    isTouched: () => press.current !== null,
    events: {
      onPointerDown({ target, pointerType, isPrimary, clientX: x, clientY: y }: ReactPointerEvent) {
        forget()
        const isButton = target instanceof Element && target.closest('button') !== null
        if (pointerType !== 'touch' || !isPrimary || isButton) return
        press.current = { x, y, isOver: false }
        timer.current = setTimeout(end, LONG)
      },
      onPointerMove({ clientX, clientY }: ReactPointerEvent) {
        const { current } = press
        if (current !== null && Math.hypot(clientX - current.x, clientY - current.y) > STILL) {
          clearTimeout(timer.current)
        }
      },
      onPointerUp: () => clearTimeout(timer.current),
      onPointerCancel: () => clearTimeout(timer.current),
      onContextMenu(event: MouseEvent) {
        if (press.current === null) return
        event.preventDefault()
        event.stopPropagation()
        end()
      },
    },
  }
}
