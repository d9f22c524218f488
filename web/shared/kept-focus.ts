interface Step {
  readonly element: Element
  readonly index: number
}

/** The focused element and its ancestors, from the inside out. */
type FocusPlace = readonly Step[]

const CONTROLS = 'a[href], button:not(:disabled), summary, [tabindex="0"]'
const LISTS = 'ul, ol, tbody, [role="list"]'
const ROWS = 'li, tr, details, fieldset'
const BLOCKS = 'section, dialog, form, main'
const HEADINGS = 'h1, h2, h3'

/**
 * Moves the focus on when its element is removed, for example with its row: to the same control of the
 * neighbouring row, else to what is left of the row, else to the heading. After a dialog it goes to the
 * opener, or its successor. A disabled element gets the focus back when it is enabled.
 *
 * `data-heir` on an ancestor is a selector of the next element; an empty one leaves the focus to the page.
 */
export function keepFocus(): void {
  let last: FocusPlace | null = null
  const openers = new WeakMap<Element, FocusPlace>()

  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element)) return
    const dialog = target.closest('dialog')
    if (dialog !== null && last !== null && !openers.has(dialog)) {
      if (!dialog.contains(last[0]?.element ?? null)) openers.set(dialog, last)
    }
    last = placeOf(target)
  })

  // A click beside every control gives the focus up on purpose; removal does not.
  document.addEventListener('focusout', ({ target }) => {
    queueMicrotask(() => {
      if (!hasFocus() && target instanceof HTMLElement && canHaveFocus(target)) last = null
    })
  })

  new MutationObserver(() => {
    if (last !== null && !hasFocus()) heirOf(last, openers)?.focus()
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled', 'hidden'] })
}

function hasFocus(): boolean {
  return document.activeElement !== null && document.activeElement !== document.body
}

function placeOf(target: Element): FocusPlace {
  const steps: Step[] = []
  for (let element: Element | null = target; element !== null; element = element.parentElement) {
    const siblings: ArrayLike<Element> = element.parentElement?.children ?? []
    steps.push({ element, index: Array.prototype.indexOf.call(siblings, element) })
  }
  return steps
}

function heirOf(place: FocusPlace, openers: WeakMap<Element, FocusPlace>): HTMLElement | null {
  const closed = place.findLast(({ element }) => element.matches('dialog') && !isOpen(element))
  const opener = closed === undefined ? undefined : openers.get(closed.element)
  if (opener !== undefined) return heirOf(opener, openers)
  const left = place.findIndex(({ element }) => isShown(element))
  const own = place[0]?.element
  if (left === 0) return own instanceof HTMLElement && canHaveFocus(own) ? own : null
  // Controls beside a list concern all of it, such as one that empties it.
  let isListOver = place.slice(0, left).some(({ element }) => element.matches(LISTS))
  for (const [at, { element }] of place.entries()) {
    if (element instanceof HTMLElement && element.dataset.heir !== undefined)
      return named(element.dataset.heir)
    if (at < left || (isListOver && !element.matches(BLOCKS))) continue
    const next = withinOf(element, place.slice(0, at))
    isListOver ||= element.matches(LISTS)
    if (next !== null) return next
  }
  return null
}

/** `gone`: from the focused element to the child of `parent` that contained it. */
function withinOf(parent: Element, gone: FocusPlace): HTMLElement | null {
  const index = gone.at(-1)?.index ?? 0
  const children = [...parent.children]
  const neighbours = [...children.slice(index), ...children.slice(0, index).reverse()]
  if (parent.matches(LISTS)) {
    return first(neighbours, (row) => sameIn(row, gone) ?? controlIn(row))
  }
  if (parent.matches(ROWS)) return controlIn(parent)
  if (parent.matches(BLOCKS)) return headingOf(parent)
  return first(neighbours, controlIn)
}

function sameIn(row: Element, gone: FocusPlace): HTMLElement | null {
  let found: Element | undefined = row
  for (const { index } of gone.slice(0, -1).reverse()) found = found?.children[index]
  return found instanceof HTMLElement && found.matches(CONTROLS) && canHaveFocus(found) ? found : null
}

function controlIn(element: Element): HTMLElement | null {
  const controls = [element, ...element.querySelectorAll(CONTROLS)].filter((each) => each.matches(CONTROLS))
  return first(controls, (each) => (each instanceof HTMLElement && canHaveFocus(each) ? each : null))
}

function headingOf(block: Element): HTMLElement | null {
  return first([...block.querySelectorAll<HTMLElement>(HEADINGS)], (heading) => {
    if (!isShown(heading)) return null
    heading.tabIndex = -1
    return heading
  })
}

function named(selector: string): HTMLElement | null {
  return selector === '' ? null : document.querySelector<HTMLElement>(selector)
}

function isOpen(dialog: Element): boolean {
  return dialog.isConnected && dialog.hasAttribute('open')
}

function isShown(element: Element): boolean {
  return element.isConnected && element.checkVisibility({ visibilityProperty: true })
}

function canHaveFocus(element: HTMLElement): boolean {
  return isShown(element) && !element.matches(':disabled') && element.tabIndex >= -1
}

function first<T>(all: readonly T[], find: (each: T) => HTMLElement | null): HTMLElement | null {
  for (const each of all) {
    const found = find(each)
    if (found !== null) return found
  }
  return null
}
