const ITEMS = '.subfolder-item, .file-item a'

/** The arrow keys lead from item to item: through a list by lines, through a gallery also sideways. */
export function moveByArrows(page: Document): void {
  page.addEventListener('keydown', (event) => {
    const present = page.activeElement
    if (!(present instanceof HTMLElement) || !present.matches(ITEMS)) return
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    const next = neighbour([...page.querySelectorAll<HTMLElement>(ITEMS)], present, event.key)
    if (next === undefined) return
    event.preventDefault()
    next.focus()
  })
}

/** The item that the key leads to from `present`, if there is one. */
function neighbour(
  items: readonly HTMLElement[],
  present: HTMLElement,
  key: string,
): HTMLElement | undefined {
  const at = items.indexOf(present)
  const from = placeOf(present)
  switch (key) {
    case 'ArrowRight':
      return items[at + 1]
    case 'ArrowLeft':
      return items[at - 1]
    case 'ArrowDown':
      return closest(items.slice(at + 1), from, (place) => place.top > from.top + 1)
    case 'ArrowUp':
      return closest(items.slice(0, Math.max(at, 0)).reverse(), from, (place) => place.top < from.top - 1)
    default:
      return undefined
  }
}

/** Of the first line of items that lies there, the one above or below. `items`: the nearest lines first. */
function closest(
  items: readonly HTMLElement[],
  from: DOMRect,
  isThere: (place: DOMRect) => boolean,
): HTMLElement | undefined {
  const first = items.find((item) => isThere(placeOf(item)))
  if (first === undefined) return undefined
  const { top } = placeOf(first)
  const line = items.filter((item) => Math.abs(placeOf(item).top - top) < 1)
  const distance = (item: HTMLElement) => Math.abs(placeOf(item).left - from.left)
  return line.reduce((best, item) => (distance(item) < distance(best) ? item : best))
}

/** Links within items all have the same place there. */
function placeOf(item: Element): DOMRect {
  return (item.closest('li') ?? item).getBoundingClientRect()
}
