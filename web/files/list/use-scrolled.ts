import { type RefObject, useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'

/** Pixels. */
export function useScrolled(of: RefObject<HTMLElement | null>) {
  const [view, setView] = useState({ scrolled: 0, width: 0, height: 0 })

  useLayoutEffect(() => {
    const element = of.current
    if (element === null) return
    const look = () =>
      setView({ scrolled: element.scrollTop, width: element.clientWidth, height: element.clientHeight })
    look()
    // Synchronously, so that the frame of the scroll shows the lines too.
    const lookNow = () => flushSync(look)
    element.addEventListener('scroll', lookNow, { passive: true })
    const size = new ResizeObserver(look)
    size.observe(element)
    return () => {
      element.removeEventListener('scroll', lookNow)
      size.disconnect()
    }
  }, [of])

  return view
}
