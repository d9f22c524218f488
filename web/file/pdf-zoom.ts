import { enablePinching } from './touch.ts'

/** Of the width that fits. */
const MOST = 5
/** Milliseconds without a movement after which pages are painted anew. */
const REST = 250

/** Two fingers widen the pages; `repaint` makes them sharp at their new size. */
export function enablePdfZoom(frame: HTMLElement, repaint: () => void): void {
  let zoom = 1
  let timer: ReturnType<typeof setTimeout> | undefined
  enablePinching(frame, (factor, at) => {
    const next = Math.min(Math.max(zoom * factor, 1), MOST)
    const grown = next / zoom
    zoom = next
    frame.style.setProperty('--zoom', String(zoom))
    // What lies between the fingers stays there.
    frame.scrollTo((frame.scrollLeft + at.x) * grown - at.x, (frame.scrollTop + at.y) * grown - at.y)
    clearTimeout(timer)
    timer = setTimeout(repaint, REST)
  })
}
