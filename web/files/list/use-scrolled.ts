import { type RefObject, useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'

/** How far an element is scrolled and how much of it is seen, in pixels. */
export function useScrolled(of: RefObject<HTMLElement | null>) {
  const [view, setView] = useState({ scrolled: 0, width: 0, height: 0 })

  useLayoutEffect(() => {
    const element = of.current
    if (element === null) return
    const look = () =>
      setView({ scrolled: element.scrollTop, width: element.clientWidth, height: element.clientHeight })
    look()
    // At once, so that the frame that shows the scrolling shows the lines too.
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
