import { createMenuKeys } from './menu-keys.ts'
import { pressInMenu } from './press-in-menu.ts'

/** The ids of the button and the menu in the head of every page. */
export const ACCOUNT_BUTTON = 'account-button'
export const ACCOUNT_MENU = 'account-menu'

/**
 * Makes the list of links that the browser shows at the button a menu: until then its roles would promise keys that do
 * nothing. Escape, and a click beside it, are the browser's own for what is a popover.
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

  // The browser gives it the focus when it opens the menu.
  items[0]?.toggleAttribute('autofocus', true)

  menu.addEventListener('beforetoggle', () => {
    // What was typed when it was open before is forgotten.
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
    // Tab leaves to the button, as Escape does.
    event.preventDefault()
    if (move.kind === 'leave') {
      menu.hidePopover()
      button.focus()
    }
  })
}
