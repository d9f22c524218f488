import { createMenuKeys } from './menu-keys.ts'
import { pressInMenu } from './press-in-menu.ts'

export const ACCOUNT_BUTTON = 'account-button'
export const ACCOUNT_MENU = 'account-menu'

/**
 * Without the script, ARIA's menu roles would promise keys that do nothing. The browser closes a popover with
 * Escape and on a click outside.
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

  items[0]?.toggleAttribute('autofocus', true)

  menu.addEventListener('beforetoggle', () => {
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
    event.preventDefault()
    if (move.kind === 'leave') {
      menu.hidePopover()
      button.focus()
    }
  })
}
