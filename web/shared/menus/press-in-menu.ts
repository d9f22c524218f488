import type { createMenuKeys, MenuMove } from './menu-keys.ts'

export function pressInMenu(
  keys: ReturnType<typeof createMenuKeys>,
  event: Pick<KeyboardEvent, 'key' | 'timeStamp' | 'ctrlKey' | 'altKey' | 'metaKey'>,
  items: readonly HTMLElement[],
): MenuMove {
  const isCommand = event.ctrlKey || event.altKey || event.metaKey
  const active = document.activeElement
  const focused = active instanceof HTMLElement ? items.indexOf(active) : -1
  const labels = items.map(({ textContent }) => textContent ?? '')
  const move = keys({ key: event.key, timeStamp: event.timeStamp, isCommand }, labels, focused)
  if (move?.kind === 'focus') items[move.index]?.focus()
  return move
}
