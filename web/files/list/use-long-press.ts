import { type MouseEvent, type PointerEvent as ReactPointerEvent, useEffect, useRef } from 'react'

/** Milliseconds, as on phones. */
const LONG = 500
/** Pixels that a finger may move. */
const STILL = 10

/** Some browsers report a long press as `contextmenu`; for the others it is timed. */
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
    /** Whether the coming click ends a long press and must be ignored. */
    isOver: () => press.current?.isOver === true,
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
