/** What hands do with a frame that scrolls: drag it with the mouse, pinch it with two fingers. */

/** With the mouse only: fingers scroll by the browser's own doing, with its momentum. */
export function enableDragging(frame: HTMLElement): void {
  frame.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'mouse' || event.button !== 0) return
    frame.setPointerCapture(event.pointerId)
    const drag = (moved: PointerEvent) => frame.scrollBy(-moved.movementX, -moved.movementY)
    frame.addEventListener('pointermove', drag)
    frame.addEventListener('lostpointercapture', () => frame.removeEventListener('pointermove', drag), {
      once: true,
    })
  })
  // The browser would drag a copy of the picture away.
  frame.addEventListener('dragstart', (event) => event.preventDefault())
}

/** Tells by which factor the fingers moved apart, and the middle between them. */
export function enablePinching(
  frame: HTMLElement,
  pinch: (factor: number, at: { readonly x: number; readonly y: number }) => void,
): void {
  let distance = 0
  const begin = (event: TouchEvent) => {
    const fingers = twoFingers(event)
    if (fingers === null) return
    // Or the whole page would grow.
    event.preventDefault()
    distance = fingers.distance
  }
  const move = (event: TouchEvent) => {
    const fingers = twoFingers(event)
    if (fingers === null || distance === 0) return
    event.preventDefault()
    const { left, top } = frame.getBoundingClientRect()
    pinch(fingers.distance / distance, { x: fingers.x - left, y: fingers.y - top })
    distance = fingers.distance
  }
  frame.addEventListener('touchstart', begin, { passive: false })
  frame.addEventListener('touchmove', move, { passive: false })
}

function twoFingers({ touches }: TouchEvent): { distance: number; x: number; y: number } | null {
  const [one, two, third] = touches
  if (one === undefined || two === undefined || third !== undefined) return null
  return {
    distance: Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY),
    x: (one.clientX + two.clientX) / 2,
    y: (one.clientY + two.clientY) / 2,
  }
}
