import { createMenuKeys } from './menu-keys.ts'
import { pressInMenu } from './press-in-menu.ts'

/** Ids of the account button and its menu in the header of every page. */
export const ACCOUNT_BUTTON = 'account-button'
export const ACCOUNT_MENU = 'account-menu'

/**
 * Turns the popover with links into an ARIA menu with keyboard support; without the script its roles would
 * promise keys that do nothing. The browser itself closes a popover with Escape and on a click outside.
 */
export function watchAccountMenu(): void {
  const button = document.getElementById(ACCOUNT_BUTTON)
  const menu = document.getElementById(ACCOUNT_MENU)
  if (button === null || menu === null) return
  let keys = createMenuKeys()
  const items = [...menu.querySelectorAll<HTMLElement>('a, button')]
  menu.role = 'menu'
  menu.setAttribute('aria-labelledby', ACCOUNT_BUTTON)
  button.setAttribute('aria-haspopup', 'menu')
  button.setAttribute('aria-expanded', 'false')
  for (const item of items) {
    item.role = 'menuitem'
    item.tabIndex = -1
  }

  // The browser focuses this element when it opens the popover.
  items[0]?.toggleAttribute('autofocus', true)

  menu.addEventListener('beforetoggle', () => {
    // Discards letters typed while the menu was open before.
    keys = createMenuKeys()
  })
  menu.addEventListener('toggle', () => {
    button.setAttribute('aria-expanded', String(menu.matches(':popover-open')))
  })
  button.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    menu.showPopover()
    items.at(event.key === 'ArrowDown' ? 0 : -1)?.focus()
  })
  menu.addEventListener('keydown', (event) => {
    const move = pressInMenu(keys, event, items)
    if (move === null) return
    // Tab returns to the button, like Escape.
    event.preventDefault()
    if (move.kind === 'leave') {
      menu.hidePopover()
      button.focus()
    }
  })
}
