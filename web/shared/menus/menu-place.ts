/** Pixels in the window: the pointer, without extent, or a button. */
export interface MenuAnchor {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

interface Size {
  readonly width: number
  readonly height: number
}

/** Pixels from the window's edges. */
const MARGIN = 8

/** Below the anchor, aligned left; on the other side where space is short; always within the window. */
export function menuPlace(anchor: MenuAnchor, menu: Size, window: Size): { left: number; top: number } {
  return {
    left: along(anchor.left, anchor.right - menu.width, menu.width, window.width),
    top: along(anchor.bottom, anchor.top - menu.height, menu.height, window.height),
  }
}

function along(wanted: number, otherwise: number, size: number, room: number): number {
  const last = room - MARGIN - size
  if (wanted >= MARGIN && wanted <= last) return wanted
  if (otherwise >= MARGIN && otherwise <= last) return otherwise
  return Math.max(MARGIN, Math.min(wanted, last))
}

export function pointerAnchor({ clientX: x, clientY: y }: { clientX: number; clientY: number }): MenuAnchor {
  return { left: x, right: x, top: y, bottom: y }
}
