/** Anchor of a menu, in pixels of the window: the pointer, which has no extent, or a button. */
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

/** Minimum pixels between a menu and the edges of the window. */
const MARGIN = 8

/**
 * Upper left corner of a menu: below its anchor, aligned to the left; on the other side where space is short;
 * within the window in any case.
 */
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
