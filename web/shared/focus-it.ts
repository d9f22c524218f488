/** As a `ref`: the element has the focus once it is there. */
export function focusIt(element: HTMLElement | null): void {
  element?.focus()
}
