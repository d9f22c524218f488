import { storage } from '../uploads/storage.ts'
import { element } from './elements.ts'

const KEY = 'holdfast-wrap'

/** A button that wraps long lines, or lets them scroll. What was chosen once holds for every text in this browser. */
export function wrapButton(
  region: HTMLElement,
  rows: readonly HTMLElement[],
  { label, byDefault }: { readonly label: string; readonly byDefault: boolean },
): HTMLButtonElement {
  const button = element('button', { type: 'button', class: 'lines-wrap' }, label)

  function wrap(isWrapped: boolean): void {
    region.dataset.wrap = String(isWrapped)
    button.setAttribute('aria-pressed', String(isWrapped))
  }

  button.addEventListener('click', () => {
    const isWrapped = region.dataset.wrap !== 'true'
    const top = rows.find((row) => row.offsetTop + row.offsetHeight > region.scrollTop)
    wrap(isWrapped)
    // The line at the top stays there.
    region.scrollTo({ top: top?.offsetTop ?? 0, left: 0 })
    keep(isWrapped)
  })
  wrap(kept() ?? byDefault)
  return button
}

function kept(): boolean | null {
  const value = storage()?.getItem(KEY)
  return value === 'on' || value === 'off' ? value === 'on' : null
}

function keep(isWrapped: boolean): void {
  try {
    storage()?.setItem(KEY, isWrapped ? 'on' : 'off')
  } catch {
    // It holds until the page is left.
  }
}
